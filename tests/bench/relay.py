"""The baseline of a hop, a process of its own: a ROUTER that passes on what it gets, with no session and no codec."""

from __future__ import annotations

import sys

import zmq

from node.security import BrokerKeys, read_keys

FRAMES_PER_ROUND = 200


def main(endpoint: str, key_file: str | None = None) -> None:
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    socket = context.socket(zmq.ROUTER)
    if key_file is not None:
        keys = read_keys(key_file, BrokerKeys)
        socket.curve_server = True
        socket.curve_publickey = keys.broker.public.encode()
        socket.curve_secretkey = keys.broker.secret.encode()
    socket.bind(endpoint)
    poller = zmq.Poller()
    poller.register(socket, zmq.POLLIN)
    while True:
        poller.poll()
        for _ in range(FRAMES_PER_ROUND):
            try:
                sender, to, data = socket.recv_multipart(flags=zmq.NOBLOCK)
            except zmq.Again:
                break
            socket.send_multipart([to, sender, data])


if __name__ == "__main__":
    main(*sys.argv[1:])
