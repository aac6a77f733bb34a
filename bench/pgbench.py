"""Clients that run transactions, by pgbench."""
import subprocess
from pathlib import Path


class Load:
    """A run of pgbench for some seconds, with scripts NAME.sql of the directory by weight. Its log has each
    transaction's latency.
    """

    def __init__(self, options, directory, name, clients, seconds, scripts, threads=2):
        programs = subprocess.check_output([options.pg_config, "--bindir"], text=True).strip()
        self.prefix = Path(directory) / f"log-{name}"
        files = [f"-f{directory}/{script}.sql@{weight}" for script, weight in scripts.items()]
        self.process = subprocess.Popen([f"{programs}/pgbench", "-h", directory, "-U", "bench", "-n", "-M", "prepared", "-c", str(clients),
                                         "-j", str(min(clients, threads)), "-T", str(seconds), "-l", f"--log-prefix={self.prefix}",
                                         *files, "postgres"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=directory)

    def latencies(self):
        """Wait for the end, and return the latencies in milliseconds, ascending."""
        _, errors = self.process.communicate()
        if self.process.returncode:
            raise RuntimeError(errors)
        return sorted(int(line.split()[2]) / 1000 for log in self.take_logs() for line in log.splitlines())

    def stop(self):
        """Stop early, and return the number of transactions."""
        self.process.terminate()
        self.process.communicate()
        return sum(len(log.splitlines()) for log in self.take_logs())

    def take_logs(self):
        logs = list(self.prefix.parent.glob(f"{self.prefix.name}.*"))
        texts = [log.read_text(encoding="utf-8") for log in logs]
        for log in logs:
            log.unlink()
        return texts
