"""A server on 127.0.0.1 that answers as a provider's does, by a function of the request: what real SDKs are tested against."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

#: Takes the path and the body of a request; gives the answer as an object, or as a list of the events of a stream.
Reply = Callable[[str, Any], Any]


@contextmanager
def emulator(reply: Reply) -> Iterator[str]:
    """Serve as long as the block runs; gives the address.

    Args:
        reply: What is answered. The events of a list are sent at once, each under the name that its `type` says, if it has one.
    """

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:
            """Print nothing."""

        def do_HEAD(self) -> None:
            self._send(b"", "text/plain")

        def do_GET(self) -> None:
            self._send(b"{}", "application/json")

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            answer = reply(self.path, json.loads(body or b"{}"))
            if isinstance(answer, list):
                names = [f"event: {event['type']}\n" if "type" in event else "" for event in answer]
                sent = "".join(f"{name}data: {json.dumps(event)}\n\n" for name, event in zip(names, answer, strict=True))
                self._send(sent.encode(), "text/event-stream")
            else:
                self._send(json.dumps(answer).encode(), "application/json")

        def _send(self, body: bytes, kind: str) -> None:
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
