#!/usr/bin/env python3
"""Starts a program as its sampler would, says welcome, and waits for it: it publishes, and nobody reads.

    hold.py PROGRAM [ARGUMENT...]     the protocol is in abi/channel.h
"""
import os, socket, struct, subprocess, sys

name = f"quartz-bench-{os.getpid()}"
listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
listener.bind("\0" + name)
listener.listen(4)
listener.settimeout(10)
program = subprocess.Popen(sys.argv[1:], env={**os.environ, "QUARTZ_SESSION": name})
connection, _ = listener.accept()
connection.settimeout(10)
if not connection.recv(128):
    sys.exit("hold.py: no hello")
connection.send(struct.pack("=IIII112x", 0x515A4348, 1, 2, os.getpid()))
sys.exit(program.wait())
