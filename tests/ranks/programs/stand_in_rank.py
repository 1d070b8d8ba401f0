"""Stands in for a rank of NCCL where no GPU is: its RAS thread and its watchdog's pipe, as NCCL 2.28 and torch do.

Usage: stand_in_rank.py SETTINGS.json, with `library` (a file to map), `port` and `answers` (reports of RAS, of
which the last is given for ever; JSON ones to those who ask for them), and `dump` (written once the pipe was).
"""

import json
import mmap
import os
import socketserver
import sys
import threading
import time

with open(sys.argv[1], encoding="utf-8") as file:
    settings = json.load(file)
rank = os.environ["RANK"]
answers = list(settings.get("answers", ()))


class Ras(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        as_json = False
        while line := self.rfile.readline():
            word = line.decode().strip().upper()
            if word.startswith("TIMEOUT"):
                self.wfile.write(b"OK\n")
            elif word == "SET FORMAT JSON" and settings.get("json"):
                as_json = True
                self.wfile.write(b"OK\n")
            elif word == "VERBOSE STATUS":
                answer = answers.pop(0) if len(answers) > 1 else answers[0]
                assert as_json == bool(settings.get("json"))
                self.wfile.write(answer.encode())
                return
            else:
                self.wfile.write(b"ERROR: Unknown command\n")


def watch(pipe: str, dump: str) -> None:
    descriptor = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    while True:
        if os.read(descriptor, 128):
            with open(os.environ["TORCH_NCCL_DEBUG_INFO_TEMP_FILE"] + rank, "wb") as out:
                out.write(bytes.fromhex(dump))
        time.sleep(0.02)


if settings.get("library"):
    with open(settings["library"], "rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
if "port" in settings and rank == "0":
    socketserver.ThreadingTCPServer.allow_reuse_address = True
    server = socketserver.ThreadingTCPServer(("127.0.0.1", settings["port"]), Ras)
    threading.Thread(target=server.serve_forever, daemon=True).start()
if "dump" in settings:
    pipe = os.environ["TORCH_NCCL_DEBUG_INFO_PIPE_FILE"] + rank + ".pipe"
    os.mkfifo(pipe)
    threading.Thread(target=watch, args=(pipe, settings["dump"]), daemon=True).start()
print(f"rank {rank} stands", flush=True)
while True:
    time.sleep(1)
