"""A connection that writes down what it did, so that a failure can be told as a psql script."""
import psycopg2

# What a statement may raise without being wrong: a value too long for an index page, and what concurrency brings.
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
        """Rows of a statement that changes nothing worth a note."""
        self.last = sql
        self.cursor.execute(sql)
        return self.cursor.fetchall() if self.cursor.description else []

    def run(self, sql, tolerated=frozenset()):
        """A statement that changes the database; False if it raised a tolerated error (and any transaction is over)."""
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

        By a file in the server's directory: while psycopg2 feeds data to a server that waits for a lock, no other thread
        can run, also not the one that has the lock.
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
    """The log as a psql script; with several sessions their labels say who did what, in the order of the starts."""
    several = len({label for label, _ in log}) > 1
    return "\n".join((f"/* {label} */ {text}" if several else text) for label, text in log)
