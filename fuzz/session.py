"""A connection that logs what it did, so that a failure can be printed as a psql script."""
import psycopg2

# Errors that are expected of statements: a value too long for an index page, and those of concurrency.
TOO_LONG = {"54000"}
CONFLICTS = {"40001", "40P01", "23505", "55P03"}


class Finding(Exception):
    """Something that must not happen: a wrong answer, an unexpected error, a crash."""


class Session:
    def __init__(self, dsn, label, log):
        self.label, self.log = label, log
        self.connection = psycopg2.connect(dsn)
        self.connection.autocommit = True
        self.cursor = self.connection.cursor()
        self.last = ""

    def note(self, text):
        self.log.append((self.label, text))

    def query(self, sql):
        """Return the rows of a statement that need not be logged."""
        self.last = sql
        self.cursor.execute(sql)
        return self.cursor.fetchall() if self.cursor.description else []

    def run(self, sql, tolerated=frozenset()):
        """Run and log a statement that changes the database. Returns False for a tolerated error, which ends any
        transaction.
        """
        self.note(sql + ";")
        try:
            self.cursor.execute(sql)
            return True
        except psycopg2.Error as e:
            if e.pgcode not in tolerated:
                raise Finding(f"{sql[:300]}\n{e.pgcode}: {e}") from e
            self.note(f"-- that raised {e.pgcode}: {str(e).splitlines()[0]}")
            self.rollback()
            return False

    def copy_in(self, table, columns, rows, tolerated=frozenset()):
        """COPY the rows of a query into a table.

        The rows are in a file in the server's directory. If psycopg2 fed the data while the server waits for a lock,
        no other thread could run, not even the one that has the lock.
        """
        file = f"fuzz.{self.connection.info.backend_pid}.copy"
        return (self.run(f"COPY ({rows}) TO PROGRAM 'cat >{file}'")
                and self.run(f"COPY {table} ({columns}) FROM PROGRAM 'cat {file} && rm {file}'", tolerated))

    def rollback(self):
        if self.connection.info.transaction_status != psycopg2.extensions.TRANSACTION_STATUS_IDLE:
            self.cursor.execute("ROLLBACK")
            self.note("ROLLBACK;")

    def close(self):
        self.connection.close()


def script(log):
    """Return the log as a psql script. With several sessions, labels tell them apart; statements are in the order of
    their starts.
    """
    several = len({label for label, _ in log}) > 1
    return "\n".join((f"/* {label} */ {text}" if several else text) for label, text in log)
