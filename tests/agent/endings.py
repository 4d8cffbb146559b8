#!/usr/bin/env python3
"""How `bough chat -p` ends: endings.py BOUGH. Refusals, blocks and limits exit 1; streams that break are tried again;
certificates of one's own; a written file is on the disk before its result is stored."""
import gzip
import http.server
import json
import os
import pathlib
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading

MODELS = {
    "anthropic/claude-sonnet-4-5": ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
    "openai/gpt-5": ("OPENAI_API_KEY", "OPENAI_BASE_URL"),
    "openai-chat/gpt-4.1": ("OPENAI_API_KEY", "OPENAI_BASE_URL"),
    "gemini/gemini-2.5-pro": ("GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL"),
}
# What each API sends at the end of an answer that is complete, refused or blocked, or cut off.
ENDS = {
    "anthropic": {"fine": "end_turn", "refused": "refusal", "cut": "max_tokens"},
    "openai": {"fine": "completed", "refused": "content_filter", "cut": "max_output_tokens"},
    "openai-chat": {"fine": "stop", "refused": "content_filter", "cut": "length"},
    "gemini": {"fine": "STOP", "refused": "SAFETY", "cut": "MAX_TOKENS"},
}


def sse(events):
    return "".join((f"event: {e['type']}\n" if "type" in e else "") + "data: " + json.dumps(e) + "\n\n" for e in events)


def events_of(api, words, end):
    """The events of an answer, one for each word."""
    said = "".join(words)
    if api == "anthropic":
        return ([{"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant", "model": "x",
                                                       "content": [], "stop_reason": None, "stop_sequence": None,
                                                       "usage": {"input_tokens": 3, "output_tokens": 1}}},
                 {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}]
                + [{"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": w}} for w in words]
                + [{"type": "content_block_stop", "index": 0},
                   {"type": "message_delta", "delta": {"stop_reason": end, "stop_sequence": None},
                    "usage": {"output_tokens": 5}},
                   {"type": "message_stop"}])
    if api == "openai":
        item = {"type": "message", "id": "i", "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": said, "annotations": []}]}
        whole = end == "completed"
        done = {"id": "r", "object": "response", "status": "completed" if whole else "incomplete", "model": "x",
                "output": [item], "usage": {"input_tokens": 3, "output_tokens": 5}}
        if not whole: done["incomplete_details"] = {"reason": end}
        return ([{"type": "response.created", "response": {"id": "r", "object": "response", "status": "in_progress"}},
                 {"type": "response.output_item.added", "output_index": 0, "item": dict(item, content=[])}]
                + [{"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": w} for w in words]
                + [{"type": "response.output_item.done", "output_index": 0, "item": item},
                   {"type": "response.completed" if whole else "response.incomplete", "response": done}])
    if api == "openai-chat":
        chunk = lambda delta, finish=None: {"id": "c", "object": "chat.completion.chunk", "model": "x",
                                            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
        return [chunk({"role": "assistant", "content": w}) for w in words] + [chunk({}, end)]
    part = lambda w, finish=None: {"candidates": [dict({"content": {"role": "model", "parts": [{"text": w}]}, "index": 0},
                                                       **({"finishReason": finish} if finish else {}))]}
    return [part(w) for w in words[:-1]] + [part(words[-1], end)]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.server.count += 1
        body = self.server.answer(self.server.count)
        status = 200
        if isinstance(body, tuple): status, body = body
        self.send_response(status)
        self.send_header("content-type", "text/event-stream" if status == 200 else "application/json")
        if isinstance(body, bytes): self.send_header("content-encoding", "gzip")
        self.end_headers()
        self.wfile.write(body if isinstance(body, bytes) else body.encode())

    def log_message(self, *words):
        pass


def check(condition, what, *seen):
    if not condition: sys.exit(f"{what}: {seen}")


class World:
    def __init__(self, bough, folder, model, server, scheme="http"):
        self.bough, self.folder, self.model, self.server = bough, folder, model, server
        key, url = MODELS[model]
        self.environment = {"PATH": os.environ["PATH"], "HOME": folder, "LC_ALL": "C.UTF-8",
                            "BOUGH_STORE": f"{folder}/store", key: "sk-test-0123456789abcdef",
                            url: f"{scheme}://localhost:{server.server_port}"}

    def ask(self, answer, *words, before=(), **variables):
        self.server.answer, self.server.count = answer, 0
        return subprocess.run([*before, self.bough, "chat", "--new", "-p", "hello", "--model", self.model, *words],
                              cwd=self.folder, env={**self.environment, **variables}, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=120)


def endings(world, api):
    ends = ENDS[api]
    words = ["one ", "two ", "three"]
    done = world.ask(lambda n: sse(events_of(api, words, ends["fine"])))
    check(done.returncode == 0 and "one two three" in done.stdout, f"{api}: a whole answer", done)
    for kind, told in (("refused", "refused or blocked"), ("cut", "cut off")):
        for more in ([], ["--json"]):
            done = world.ask(lambda n: sse(events_of(api, words, ends[kind])), *more)
            check(done.returncode == 1 and told in done.stdout + done.stderr, f"{api}: {kind} is told and exits 1", done)
    done = world.ask(lambda n: gzip.compress(sse(events_of(api, words, ends["fine"])).encode()))
    check(done.returncode == 0 and "one two three" in done.stdout, f"{api}: an answer that a proxy compresses", done)
    # Cut off after the first word: twice, then complete.
    whole = events_of(api, words, ends["fine"])
    first = next(i for i, e in enumerate(whole) if "one " in json.dumps(e))
    done = world.ask(lambda n: sse(whole[:first + 1] if n < 3 else whole))
    check(done.returncode == 0 and world.server.count == 3, f"{api}: a stream that breaks is tried again", done)
    check(done.stdout == "one two three\n", f"{api}: the whole answer is printed, and nothing of those before", done)
    garbled = sse(whole[:first + 1]) + "data: {\"half\n\n"
    done = world.ask(lambda n: garbled + sse(whole[first + 1:]) if n < 3 else sse(whole))
    check(done.returncode == 0 and world.server.count == 3 and done.stdout == "one two three\n",
          f"{api}: so is one that becomes unreadable", done)
    done = world.ask(lambda n: "data: {\"half\n\n")
    check(done.returncode == 1 and world.server.count == 1, f"{api}: one that never was readable is not", done)
    no = {"error": {"type": "invalid_request_error", "message": "no"}}
    for event in (no, {"type": "error", **no}):
        if api == "openai" and "type" in event: continue  # error_events() has these
        done = world.ask(lambda n: sse(whole[:first + 1] + [event]))
        check(done.returncode == 1 and world.server.count == 1 and done.stdout == "one \n",
              f"{api}: an error in the middle ends the answer", done)
    # A busy server, before and after the first word.
    done = world.ask(lambda n: (529, '{"error":{"type":"overloaded_error","message":"busy"}}') if n == 1 else sse(whole))
    check(done.returncode == 0 and world.server.count == 2, f"{api}: a busy server is asked again", done)
    done = world.ask(lambda n: (400, '{"error":{"type":"invalid_request_error","message":"no"}}'))
    check(done.returncode == 1 and world.server.count == 1, f"{api}: a refused request is not", done)


def chat_servers(world):
    whole = sse(events_of("openai-chat", ["fine"], "stop"))
    for error, tries in (({"code": 502, "message": "m"}, 2), ({"code": "429", "message": "m"}, 2), ({"code": 400, "message": "m"}, 1)):
        done = world.ask(lambda n: sse([{"error": error}]) if n == 1 else whole)
        check(world.server.count == tries and done.returncode == tries % 2, f"an error that has a status alone: {error}", done)
    refusal = events_of("openai-chat", ["fine"], "stop")
    refusal[0]["choices"][0]["delta"] = {"role": "assistant", "refusal": "I must not."}
    done = world.ask(lambda n: sse(refusal))
    check(done.returncode == 1 and done.stdout == "I must not.\n" and "refused" in done.stderr, "the words of a refusal", done)


def unknown_usage(world):
    """Nothing is said of the tokens before the stream ends: unknown is not zero."""
    whole = events_of("openai-chat", ["fine"], "stop")
    counted = whole + [{"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2}}]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as store:
        run = lambda *words: subprocess.run([world.bough, *words], env={**world.environment, "BOUGH_STORE": store},
                                            cwd=world.folder, capture_output=True, text=True, timeout=60)
        done = world.ask(lambda n: sse(whole), "--json", BOUGH_STORE=store)
        events = [json.loads(line) for line in done.stdout.splitlines()]
        for event in events[-2:]:
            check(event["usage"] is None and event["withoutUsage"] == 1, "an event says that it is unknown", event)
        row = json.loads(run("usage", "--json").stdout)["total"]
        check((row["messages"], row["withoutUsage"], row["costUsd"], row["costKnown"]) == (1, 1, None, False), "all unknown", row)
        shown = run("usage", "--by", "model")
        check(shown.stdout.splitlines()[1].split() == ["x", "1"] + ["-"] * 6, "a row without figures", shown)
        listed = run("ls", "--long").stdout
        check("$0" not in listed, "nor does a list say that it cost nothing", listed)
        done = world.ask(lambda n: sse(counted), "--json", BOUGH_STORE=store)
        check('"withoutUsage"' not in done.stdout and '"inputTokens":7' in done.stdout, "one that is known", done)
        shown = run("usage")
        check("1 of 2 answers: the provider did not say what it used" in shown.stderr, "some unknown", shown)


def error_events(world):
    whole = sse(events_of("openai", ["fine"], "completed"))
    begun = sse(events_of("openai", ["fine"], "completed")[:1])
    for code, tries in (("server_error", 2), ("rate_limit_exceeded", 2), ("invalid_prompt", 1), ("insufficient_quota", 1)):
        for event in ({"type": "error", "code": code, "message": "m", "param": None},
                      {"type": "response.failed", "response": {"id": "r", "status": "failed",
                                                               "error": {"code": code, "message": "m"}}}):
            done = world.ask(lambda n: begun + sse([event]) if n == 1 else whole)
            check(world.server.count == tries and done.returncode == tries % 2, f"{code} in {event['type']}", done)
            check(("left out" in done.stderr) == (code == "invalid_prompt"), f"{code}: a prompt that is not taken is left out", done)


def blocked_prompt(world):
    done = world.ask(lambda n: sse([{"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}]))
    check(done.returncode == 1 and "PROHIBITED_CONTENT" in done.stdout + done.stderr, "a blocked prompt", done)


def certificates(bough, folder, model, answer):
    if shutil.which("openssl") is None: return print("certificates: skipped, there is no openssl command")
    run = lambda *words: subprocess.run(words, cwd=folder, check=True, capture_output=True, text=True).stdout
    run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "cert.pem", "-days", "2",
        "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost")
    names = pathlib.Path(folder, "certs")
    names.mkdir()
    shutil.copy(f"{folder}/cert.pem", names / (run("openssl", "x509", "-hash", "-noout", "-in", "cert.pem").strip() + ".0"))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{folder}/cert.pem", f"{folder}/key.pem")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.handle_error = lambda *words: None
    threading.Thread(target=server.serve_forever, daemon=True).start()
    world = World(bough, folder, model, server, "https")
    check(world.ask(answer, SSL_CERT_FILE=f"{folder}/cert.pem").returncode == 0, "SSL_CERT_FILE is used")
    for wrong in ({}, {"SSL_CERT_FILE": f"{folder}/none.pem"}):
        refused = world.ask(answer, **wrong)
        check(refused.returncode == 1 and "SSL_CERT_FILE" in refused.stderr and "trying again" not in refused.stderr,
              "a certificate that is not trusted is said at once", refused.stderr)
    check(world.ask(answer, SSL_CERT_DIR=str(names)).returncode == 0, "SSL_CERT_DIR is used")
    server.shutdown()


def written_first(world):
    """The file is synced before the entry with its result is written."""
    if shutil.which("strace") is None: return print("written_first: skipped, there is no strace command")
    tool = [{"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant", "model": "x",
                                                  "content": [], "usage": {"input_tokens": 3, "output_tokens": 1}}},
            {"type": "content_block_start", "index": 0,
             "content_block": {"type": "tool_use", "id": "t", "name": "write", "input": {}}},
            {"type": "content_block_delta", "index": 0,
             "delta": {"type": "input_json_delta", "partial_json": '{"path":"new.txt","content":"ZYXWVUT"}'}},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 5}},
            {"type": "message_stop"}]
    log = f"{world.folder}/trace"
    done = world.ask(lambda n: sse(tool if n == 1 else events_of("anthropic", ["done"], "end_turn")), "--yes",
                     before=["strace", "-f", "-y", "-s", "2000", "-e", "trace=write,pwrite64,fsync,fdatasync,rename,renameat,renameat2",
                             "-o", log],
                     ASAN_OPTIONS="detect_leaks=0")  # leak detection does not work under strace
    check(done.returncode == 0, "a turn that writes a file", done)
    lines = pathlib.Path(log).read_text(errors="replace").splitlines()
    where = lambda *words: next((i for i, line in enumerate(lines) if all(w in line for w in words)), None)
    written, result = where("write", '"ZYXWVUT"'), where("write", "tool_result", ".jsonl")
    synced = next((i for i, line in enumerate(lines) if i > (written or 0) and "fsync(" in line and ".jsonl" not in line), None)
    check(None not in (written, result, synced) and written < synced < result, "written, synced, stored", written, synced, result,
          [line[:160] for line in lines])


def main():
    bough = str(pathlib.Path(sys.argv[1]).resolve())
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for model in MODELS:
        api = model.split("/")[0]
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            world = World(bough, folder, model, server)
            endings(world, api)
            if api == "openai": error_events(world)
            if api == "openai-chat": chat_servers(world)
            if api == "openai-chat": unknown_usage(world)
            if api == "gemini": blocked_prompt(world)
            if api == "anthropic":
                written_first(world)
                certificates(bough, folder, model, lambda n: sse(events_of("anthropic", ["fine"], "end_turn")))
        print(model, "ok")


if __name__ == "__main__":
    main()
