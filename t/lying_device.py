#!/usr/bin/env python3
"""Stands in for the device program: passes requests of backends to it, and its replies back, changed as instructed.

    lying_device.py DATA_DIRECTORY LIE

It takes over the program's socket, and prints "ready". LIE is a file that is read before each reply. It is empty, or
has a lie in JSON:

    {"kind": of request, "field": where, "at": which of them, "op": "set" or "add", "value": number}

Fields are those of struct DeviceReply, and of the area (device/protocol.h): "rows" and "aggregated" of chunk "at";
"entries" of the first aggregate, "cell", "of" and "measure" of its entry "at"; "bit", which is set after the last row;
"page", whose bits are inverted; "key" and "row" of the pair "at" of a sort; "vector", one of whose words is changed.
"reply" concerns the message: it is sent "twice", "short", "long", or "not"; or "scribble": the area is overwritten as
long as the backend reads it.
"""
import json
import mmap
import os
import random
import select
import socket
import struct
import sys
import threading
import time

HELLO, EVALUATE, SORT, SIEVE = 0, 4, 5, 6
REQUEST_SIZE, REPLY_SIZE = 160, 296
CHUNK_BYTES, CHUNK_ROWS = 8064, 64512
HEADER_SIZE, SEGMENT_SIZE = 48, 104

# offset and format
REPLY = {"number": (0, "Q"), "result": (8, "I"), "segment": (12, "I"), "column": (16, "I"), "of_rows": (20, "I"), "form": (24, "I"),
         "built": (28, "I"), "refined_rows": (32, "Q"), "rays": (40, "Q"), "nanoseconds": (48, "Q"), "name": (56, "Q"),
         "name_end": (176, "Q"), "software": (184, "I"), "ray_tracing": (188, "I"), "can_aggregate": (192, "I"), "memory_limit": (200, "Q"),
         "memory_used": (208, "Q"), "columns": (216, "I"), "bvhs": (220, "I"), "requests": (224, "Q"), "submissions": (232, "Q"),
         "uploads": (240, "Q"), "builds": (248, "Q"), "sorts": (256, "Q"), "sieves": (264, "Q"), "build_nanoseconds": (272, "Q"),
         "evictions": (280, "Q"), "failures": (288, "Q")}


def align(offset, alignment):
    return (offset + alignment - 1) // alignment * alignment


def change(memory, offset, form, lie):
    """Change a number; it wraps around."""
    size = struct.calcsize(form)
    before, = struct.unpack_from("<" + form, memory, offset)
    after = lie["value"] + (before if lie.get("op") == "add" else 0)
    struct.pack_into("<" + form, memory, offset, after % 2 ** (8 * size))


class Request:
    """A backend's request, as it lies in its area."""

    def __init__(self, message, area):
        self.area = area
        self.kind, _, self.offset, self.size, self.results = struct.unpack_from("<IIQQQ", message)
        self.rows = struct.unpack_from("<I", message, 104)[0]
        self.segments = []
        if self.kind == EVALUATE:
            self.read_segments()

    def read_segments(self):
        header = struct.unpack_from("<12I", self.area, self.offset)
        self.want_bits, self.prepare = header[1], header[5]
        for i in range(header[2]):
            at = self.offset + HEADER_SIZE + i * SEGMENT_SIZE
            rows, = struct.unpack_from("<I", self.area, at + 40)
            cells, room, _, measures = struct.unpack_from("<QIII", self.area, at + 48)
            joins, part = struct.unpack_from("<II", self.area, at + 92)
            if part == 0:
                self.segments.append({"rows": rows, "cells": cells, "room": room, "measures": measures, "joins": joins})
        self.chunks = sum(-(-segment["rows"] // CHUNK_ROWS) for segment in self.segments)
        self.aggregates = self.results + align(self.chunks * 8, 64)
        self.aggregate = next((s for s in self.segments if s["cells"] > 0), None)
        words = sum(1 + s["room"] * (2 + s["measures"]) for s in self.segments if s["cells"] > 0 and not s["joins"])
        self.bits = align(self.aggregates + words * 8 - self.results, 64) + self.results

    def count(self, chunk):
        return struct.unpack_from("<II", self.area, self.results + chunk * 8)

    def page(self, last):
        """Return a chunk whose bits are returned, or None."""
        filled = [chunk for chunk in range(self.chunks) if self.want_bits and self.count(chunk)[0] > 0]
        return filled[-1 if last else 0] if filled else None

    def change_aggregate(self, lie):
        if self.aggregate is None:
            return
        if lie["field"] == "entries":
            return change(self.area, self.aggregates, "Q", lie)
        n, = struct.unpack_from("<Q", self.area, self.aggregates)
        if n == 0 or n > self.aggregate["room"]:
            return
        word = {"cell": 0, "of": 1}.get(lie["field"], 2 + lie.get("measure", 0))
        if word < 2 + self.aggregate["measures"]:
            entry = lie.get("at", 0) % n
            change(self.area, self.aggregates + 8 + (entry * (2 + self.aggregate["measures"]) + word) * 8, "Q", lie)

    def change_answer(self, lie):
        """Change the answer in the area."""
        field, at = lie["field"], lie.get("at", 0)
        if self.kind == SORT and field in ("key", "row"):
            change(self.area, self.offset + at % self.size * 16 + (8 if field == "row" else 0), "I" if field == "row" else "Q", lie)
        elif self.kind == SIEVE and field == "vector":
            change(self.area, self.results + 8 * at, "Q", lie)
        elif self.kind != EVALUATE or self.prepare:
            return
        elif field in ("rows", "aggregated"):
            change(self.area, self.results + at % self.chunks * 8 + (4 if field == "aggregated" else 0), "I", lie)
        elif field in ("entries", "cell", "of", "measure"):
            self.change_aggregate(lie)
        elif field == "page" and self.page(False) is not None:
            first = self.bits + self.page(False) * CHUNK_BYTES
            self.area[first:first + CHUNK_BYTES] = bytes(byte ^ 255 for byte in self.area[first:first + CHUNK_BYTES])
        elif field == "bit" and self.page(True) == self.chunks - 1:
            change(self.area, self.bits + self.chunks * CHUNK_BYTES - 8, "Q", {"value": 1 << 63})
            change(self.area, self.results + (self.chunks - 1) * 8, "I", {"value": 1, "op": "add"})

    def scribble(self):
        """Overwrite the answer while the backend reads it."""
        first = self.offset if self.kind == SORT else self.results
        end = first + (self.size * 16 if self.kind == SORT else len(self.area))
        until = time.time() + 0.03
        while time.time() < until:
            at = random.randrange(first, min(end, len(self.area) - 8)) // 4 * 4
            struct.pack_into("<I", self.area, at, random.choice((0, 1, 2 ** 31, 2 ** 32 - 1, random.getrandbits(32))))


class Connection:
    """A backend's connection, and the one to the program for it."""

    def __init__(self, backend, program):
        self.backend, self.program = backend, program
        self.area = None
        self.pending = []

    def take_request(self):
        message, files, _, _ = socket.recv_fds(self.backend, 4096, 1)
        if len(message) != REQUEST_SIZE:
            assert not message, "requests have other sizes"
            return False
        if files:
            self.area = mmap.mmap(files[0], struct.unpack_from("<Q", message, 16)[0])
        self.pending.append(Request(message, self.area))
        if files:
            socket.send_fds(self.program, [message], files)
        else:
            self.program.send(message)
        for file in files:
            os.close(file)
        return True

    def take_reply(self):
        reply = bytearray(self.program.recv(4096))
        if len(reply) != REPLY_SIZE:
            assert not reply, "replies have other sizes"
            return False
        request = self.pending.pop(0)
        lie = told()
        if not lie or lie["kind"] != request.kind:
            self.backend.send(reply)
            return True
        if lie["field"] == "reply":
            return self.send_wrongly(request, reply, lie["value"])
        if lie["field"] in REPLY:
            change(reply, *REPLY[lie["field"]], lie)
            for field in lie.get("also", {}):
                change(reply, *REPLY[field], {"value": lie["also"][field]})
        elif struct.unpack_from("<I", reply, 8)[0] == 0:
            request.change_answer(lie)
        self.backend.send(reply)
        return True

    def send_wrongly(self, request, reply, how):
        if how == "not":
            return False
        self.backend.send(reply[:-1] if how == "short" else reply + b"x" if how == "long" else reply)
        if how == "twice":
            self.backend.send(reply)
        if how == "scribble":
            request.scribble()
        return True

    def serve(self):
        try:
            served = True
            while served:
                ready, _, _ = select.select([self.backend, self.program], [], [])
                served = self.take_reply() if self.program in ready else self.take_request()
        except OSError:
            pass
        except BaseException as error:
            print(f"failed: {error!r}", flush=True)
            raise
        finally:
            self.backend.close()
            self.program.close()


def told():
    with open(sys.argv[2]) as file:
        text = file.read()
    return json.loads(text) if text.strip() else None


def main():
    os.chdir(os.path.join(sys.argv[1], "pg_stat_tmp"))
    os.rename("rtscan_device.0", "rtscan_device.true")
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind("rtscan_device.0")
    listener.listen(100)
    print("ready", flush=True)
    while True:
        backend, _ = listener.accept()
        program = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        program.connect("rtscan_device.true")
        threading.Thread(target=Connection(backend, program).serve, daemon=True).start()


main()
