#!/usr/bin/env python3
"""Servers that misbehave, as the command meets them: bad_servers.py BOUGH. Nothing of a key may be left anywhere."""
import http.server
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading

KEY = "sk-test-0123456789abcdefghij"
ESCAPED = KEY.replace("-", "\\u002d").replace("t", "\\u0074", 1)
PROVIDERS = {
    "anthropic/claude-x": ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
    "openai/gpt-x": ("OPENAI_API_KEY", "OPENAI_BASE_URL"),
    "openai-chat/gpt-x": ("OPENAI_API_KEY", "OPENAI_BASE_URL"),
    "gemini/gemini-x": ("GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL"),
}
# The server's response, and what the user is told.
CASES = [
    (401, "application/json", json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}"}}), "check "),
    (404, "application/json", '{"error":{"message":"no such model"}}', "is there a model"),
    (400, "application/json", '{"error":{"message":"bad ' + KEY[:14] + '…"}}', KEY[:14]),
    (400, "application/json", '{"error":{"message":"' + "x" * 290 + KEY + '"}}', "rephrase the message"),
    (401, "application/json", '{"error":{"message":"Incorrect: ' + ESCAPED + '"}}', "Incorrect: [key]"),
    (401, "application/json", '{"error":{"info":"' + "x" * 270 + ESCAPED + '"}}', "check "),
    (401, "application/json", '{"error":{"message":"{\\"is\\":\\"' + ESCAPED.replace("\\", "\\\\") + '\\"}"}}', "[key]"),
    (200, "text/event-stream", 'event: error\ndata: {"error":{"info":"' + "x" * 270 + ESCAPED + '"}}\n\n', "base URL"),
    (200, "text/html", f"<html>{KEY}</html>", "base URL"),
    (200, "application/json", '{"half": "' + KEY, "base URL"),
    (200, "text/event-stream", 'event: error\ndata: {"type":"error","error":{"type":"invalid_request_error","message":"no ' + KEY + '"}}\n\n', "no [key]"),
]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        status, kind, body, _ = self.server.case
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *words):
        pass


def check(condition, what, *seen):
    if not condition:
        sys.exit(f"{what}: {seen}")


def try_all(bough, folder, server, model):
    key, url = PROVIDERS[model]
    environment = {"PATH": os.environ["PATH"], "HOME": folder, "LC_ALL": "C.UTF-8", "BOUGH_STORE": f"{folder}/store",
                   key: KEY, url: f"http://127.0.0.1:{server.server_port}"}

    def run(*words):
        return subprocess.run([bough, *words], cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=60)

    said = []
    for number, case in enumerate(CASES):
        server.case = case
        for words in ([], ["--json"]):
            done = run("chat", "--new", "-p", f"turn {number}", "--model", model, *words)
            said.append(done.stdout + done.stderr)
            check(done.returncode == 1, f"{model}: answer {number} is no success", done)
            check(case[3] in said[-1] or case[0] == 200 and "[key]" in said[-1], f"{model}: answer {number} says what to do", said[-1])
        done = run("chat", "-p", "go on", "--model", "offline/echo")
        check(done.returncode == 0 and "go on" in done.stdout, "the session goes on with another model", done)
    said.append(run("doctor").stdout)
    check(run("verify").returncode == 0, "every session is valid", run("verify").stderr)
    for text in said:
        check(KEY not in text, "no key is printed", text)
        check("x" * 290 + KEY[:10] not in text, "nor a part of one that was cut", text)
        check(ESCAPED[:18] not in text, "nor one that is escaped", text)
    for path in pathlib.Path(folder).rglob("*"):
        if path.is_file():
            for part in (KEY, ESCAPED[:18]):
                check(part.encode() not in path.read_bytes(), "no key is stored", path)


def main():
    bough = str(pathlib.Path(sys.argv[1]).resolve())
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for model in PROVIDERS:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            try_all(bough, folder, server, model)
            print(model, "ok")


if __name__ == "__main__":
    main()
