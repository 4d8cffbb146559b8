#!/usr/bin/env python3
"""Talks to `bough mcp` as clients of both protocol generations do: mcp.py BOUGH."""
import json
import pathlib
import subprocess
import sys
import tempfile

BOUGH = sys.argv[1]
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
failures = []


def check(what, condition, shown=None):
    if not condition:
        failures.append(what if shown is None else f"{what}: {shown}")


def bough(store, *arguments):
    done = subprocess.run([BOUGH, *arguments, "--store", store], capture_output=True, text=True, check=True)
    return done.stdout.strip()


class Client:
    """One connection. Requests carry `meta` unless it is None."""

    def __init__(self, store, *options, meta=META):
        self.process = subprocess.Popen(
            [BOUGH, "mcp", "--store", store, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.meta = meta
        self.count = 0

    def send_line(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def answer(self):
        return json.loads(self.process.stdout.readline())

    def request(self, method, **params):
        self.count += 1
        if self.meta is not None:
            params["_meta"] = self.meta
        self.send_line(json.dumps({"jsonrpc": "2.0", "id": self.count, "method": method, "params": params}))
        answer = self.answer()
        check("an answer names its request", answer.get("id") == self.count, answer)
        return answer

    def tool(self, name, **arguments):
        result = self.request("tools/call", name=name, arguments=arguments)["result"]
        text = result["content"][0]["text"]
        return text if result.get("isError") or not text.startswith("{") else json.loads(text)

    def close(self):
        self.process.stdin.close()
        check("the server ends with its input", self.process.wait(timeout=30) == 0)


def check_stateless(store):
    client = Client(store)
    found = client.request("server/discover")["result"]
    check("discover lists the version", found["supportedVersions"] == ["2026-07-28"], found)
    check("results are complete", found["resultType"] == "complete" and found["cacheScope"] == "private", found)
    check("ping is gone", client.request("ping")["error"]["code"] == -32601)
    client.meta = dict(META, **{"io.modelcontextprotocol/protocolVersion": "2030-01-01"})
    error = client.request("tools/list")["error"]
    check("an unknown version is refused", error["code"] == -32022 and error["data"]["supported"] == ["2026-07-28"], error)
    client.meta = None
    check("a request without a version is refused", client.request("tools/list")["error"]["code"] == -32602)
    client.close()


def check_greeted(store):
    client = Client(store, meta=None)
    check("ping is answered before initialize", client.request("ping").get("result") == {})
    hello = {"capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    answer = client.request("initialize", protocolVersion="2025-11-25", **hello)["result"]
    check("initialize answers the version", answer["protocolVersion"] == "2025-11-25", answer)
    client.send_line(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))
    check("ping is answered", client.request("ping")["result"] == {})
    check("results are bare", set(client.request("tools/list")["result"]) == {"tools"})
    batch = [{"jsonrpc": "2.0", "id": 8, "method": "ping"}, {"jsonrpc": "2.0", "method": "notifications/x"}, {"jsonrpc": "2.0", "id": 9, "method": "no"}]
    client.send_line(json.dumps(batch))
    check("a batch is refused where the revision has none", client.answer()["error"]["code"] == -32600)
    client.request("initialize", protocolVersion="2025-03-26", **hello)
    client.send_line(json.dumps(batch))
    answers = client.answer()
    check("a batch is answered where the revision has it", [each["id"] for each in answers] == [8, 9], answers)
    client.send_line(json.dumps(batch[1:2]))  # needs no answer
    for wrong in ([], [batch[0]] * 51):
        client.send_line(json.dumps(wrong))
        check("a batch of none or too many is refused", client.answer()["error"]["code"] == -32600)
    client.send_line(json.dumps([1, [], batch[0]]))
    check("what is not a message in a batch is told", [each.get("id") for each in client.answer()] == [None, None, 8])
    old = client.request("initialize", protocolVersion="1999-01-01", **hello)["result"]
    check("an old version is answered with ours", old["protocolVersion"] == "2025-11-25", old)
    client.close()


def check_escapes():
    hostile = '\x01"' * 40000
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as store:
        session = bough(store, "new")
        subprocess.run([BOUGH, "append", session, "--text", "-", "--store", store], input=hostile, capture_output=True, text=True, check=True)
        client = Client(store)
        entry = client.tool("read_session", session=session)["entries"][0]["entryId"]
        text, offset = "", 0
        while offset is not None:
            result = client.request("tools/call", name="read_session", arguments={"session": session, "entry": entry, "offset": offset})["result"]
            shown = result["content"][0]["text"]
            check("a result is bounded also where JSON escapes much", len(shown) < 41_000, len(shown))
            part = json.loads(shown)
            text, offset = text + part["text"], part.get("nextOffset")
        check("the parts of escaped text make the whole", text == hostile, len(text))
        client.close()


def check_damage():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as store:
        for name, words in (("whole", "one heron"), ("hurt", "two herons")):
            bough(store, "new", "--id", name)
            for text in (words, "last words"):
                bough(store, "append", name, "--text", text)
        log = pathlib.Path(store) / "sessions" / "hurt.jsonl"
        log.write_bytes(log.read_bytes().replace(b"two herons", b"two Herons"))
        client = Client(store)
        for tool, arguments in (("search_sessions", {"query": "heron*"}), ("usage", {})):
            told = client.tool(tool, **arguments).get("notRead", [])
            check(f"{tool} names the session that it could not read", [each["sessionId"] for each in told] == ["hurt"], told)
        check("nothing is said of other sessions", "notRead" not in client.tool("search_sessions", query="heron", session="whole"))
        rows = {row["sessionId"]: row.get("problem") for row in client.tool("list_sessions")["sessions"]}
        check("a list says which sessions are damaged", rows["hurt"] and not rows["whole"], rows)
        for tool, arguments in (("read_session", {}), ("list_branches", {}), ("diff_branches", {"otherSession": "whole"})):
            told = client.tool(tool, session="hurt", **arguments).get("notRead", [])
            check(f"{tool} says that a part of the session cannot be read", [each["sessionId"] for each in told] == ["hurt"], told)
        check("so does a tree", "note: session hurt: 1 place cannot be read" in client.tool("session_tree", session="hurt"))
        check("and nothing is said of a whole one", "notRead" not in client.tool("read_session", session="whole"))
        read = client.request("resources/read", uri="bough://session/hurt")["result"]["contents"][0]["text"]
        check("a resource says it, too", json.loads(read)["notRead"] == [{"sessionId": "hurt", "problem": "1 place cannot be read"}], read)
        client.close()
        client = Client(store, "--write")
        told = client.tool("append_message", session="hurt", role="user", text="more")
        check("what is written to it says it", told["entryId"] and told["notRead"], told)
        fork = client.tool("fork_session", session="hurt")
        check("a fork says it of what it was made from", [each["sessionId"] for each in fork["notRead"]] == ["hurt"], fork)
        told = client.tool("read_session", session=fork["sessionId"]).get("notRead", [])
        check("and its own reading of what it shares", [each["sessionId"] for each in told] == [fork["sessionId"]], told)
        client.close()


def check_reading(store, session, entries):
    client = Client(store)
    tools = client.request("tools/list")["result"]["tools"]
    names = {tool["name"] for tool in tools}
    check("only reading tools are offered", "append_message" not in names and "search_sessions" in names, names)
    for name in ("append_message", "label_entry", "fork_session"):
        refused = client.request("tools/call", name=name, arguments={"session": "s", "role": "user", "text": "x"})
        check(f"{name} is refused, and the message says how to get it", refused["error"]["code"] == -32602 and "without `bough mcp --write`" in refused["error"]["message"], refused)

    hits = client.tool("search_sessions", query="東京")["hits"]
    check("Chinese is found", [hit["sessionId"] for hit in hits] == [session], hits)
    rows = client.tool("list_sessions")
    check("sessions are listed", rows["total"] == 1 and rows["sessions"][0]["title"] == "MCP test", rows)

    read, place = [], 0
    while place is not None:
        part = client.tool("read_session", session=session, **{"from": place}, limit=2)
        check("a part has the size that was asked for", len(part["entries"]) <= 2, part)
        read += [entry["entryId"] for entry in part["entries"]]
        place = part["next"]
    check("parts make the whole", read == entries, read)
    last = client.tool("read_session", session=session[:-2], last=1)["entries"]
    check("the last entry is cut, and says so", last[0]["nextOffset"] < last[0]["textBytes"] == 90003, last[0].get("textBytes"))
    text, offset = "", 0
    while offset is not None:
        part = client.tool("read_session", session=session, entry=entries[-1], offset=offset)
        text += part["text"]
        offset = part.get("nextOffset")
    check("a long entry is read in parts", text == "木" * 30000 + "end", len(text))

    check("the tree shows ids", entries[0] in client.tool("session_tree", session=session))
    branches = client.tool("list_branches", session=session)
    check("both branches are listed", branches["total"] == 2, branches)
    leaves = [branch["leafEntryId"] for branch in branches["branches"]]
    diff = client.tool("diff_branches", session=session, left=leaves[0], right=leaves[1])
    check("branches are compared", diff["commonEntries"] == 1 and diff["left"]["count"] == 1, diff)
    check("usage is summed", client.tool("usage", by="model")["total"]["inputTokens"] == 0)

    check("a missing argument is told", "missing" in client.tool("read_session"))
    check("a wrong kind is told", "whole number" in client.tool("list_sessions", limit="many"))
    check("a whole number may have a fraction of zero", len(client.tool("read_session", session=session, last=2.0)["entries"]) == 2)
    for wrong in (1.5, -1.0, 1e300, "5", [], True):
        check(f"{wrong} is not a number of entries", "whole number" in client.tool("read_session", session=session, last=wrong))
    for wrong in (1, 1.5, "5", [], True):
        check(f"an offset of {wrong} without an entry is told", "offset" in str(client.tool("read_session", session=session, offset=wrong))[:20])
    for place in ({"from": 1}, {"last": 1}):
        refused = str(client.tool("read_session", session=session, entry=entries[-1], **place))
        check(f"{place} of an entry is told", "offset" in refused, refused)
    refused = str(client.tool("read_session", session=session, last=2, **{"from": 1}))
    check("reading on with `last`, which would begin anew, is told", "leave \"last\" out" in refused, refused)
    check("numbers of nothing are none", len(client.tool("read_session", session=session, last=2, **{"from": 0})["entries"]) == 2)
    refused = str(client.tool("list_sessions", after=f"1:{session}", skip=1))
    check("two ways to the next page at once are told", "leave \"skip\" out" in refused, refused)
    check("an offset of nothing is none", len(client.tool("read_session", session=session, offset=0)["entries"]) == 4)
    check("null arguments are not an error", "isError" not in client.request("tools/call", name="list_sessions", arguments=None)["result"])
    check("a place after the tree is told", "the tree has" in client.tool("session_tree", session=session, fromLine=999))
    check("an unknown session is told", "no session" in client.tool("read_session", session="nobody"))
    check("an unknown tool is an error", client.request("tools/call", name="rm", arguments={})["error"]["code"] == -32602)
    client.close()


def check_resources(store, session, entries):
    client = Client(store)
    listed = client.request("resources/list")["result"]["resources"]
    check("sessions are resources", listed[0]["uri"] == f"bough://session/{session}", listed)
    templates = client.request("resources/templates/list")["result"]["resourceTemplates"]
    check("templates are listed", len(templates) == 2, templates)
    whole = client.request("resources/read", uri=listed[0]["uri"])["result"]["contents"][0]
    check("a session is read", json.loads(whole["text"])["entries"][0]["entryId"] == entries[0], whole["text"][:200])
    one = client.request("resources/read", uri=f"{listed[0]['uri']}/{entries[1]}")["result"]["contents"][0]
    check("an entry is read", json.loads(one["text"])["entryId"] == entries[1], one)
    for uri in ("bough://session/../../etc/passwd", "file:///etc/passwd", f"{listed[0]['uri']}/nobody", "bough://session/a?from=x"):
        check(f"{uri} is refused", client.request("resources/read", uri=uri)["error"]["code"] == -32602)
    for method in ("resources/list", "tools/list", "resources/templates/list", "prompts/list"):
        for cursor in ("x", 7, {}):
            check(f"a cursor of others is refused by {method}", client.request(method, cursor=cursor)["error"]["code"] == -32602)
    encoded = f"bough://session/{session.replace('-', '%2D')}/{entries[1].replace('-', '%2d')}"  # as clients expand templates
    one = client.request("resources/read", uri=encoded)["result"]["contents"][0]
    check("an encoded address is read", json.loads(one["text"])["entryId"] == entries[1], one)
    for uri in ("bough://session/%2e%2e%2f%2e%2e", "bough://session/a%00", "bough://session/%", "bough://session/%4", "bough://session/%zz"):
        check(f"{uri} is refused", client.request("resources/read", uri=uri)["error"]["code"] == -32602)
    client.close()


def check_pages():
    """Every page is short and says where the next one begins; together they are the whole, once."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as store:
        session = bough(store, "new", "--title", "Long " + '"' * 5000)
        lines = [json.dumps({"type": "message", "id": f"e{number}", "payload": {"dialect": "bough", "message": {"role": "user", "content": f"word {number} " + '"' * 5000}}})
                 for number in range(60)]
        append = [BOUGH, "append", session, "--store", store]
        subprocess.run(append, input="\n".join(lines), text=True, check=True, capture_output=True)
        bough(store, "switch", session, "e9")
        subprocess.run(append, input=lines[0].replace('"e0"', '"other"'), text=True, check=True, capture_output=True)
        for number in range(30):
            bough(store, "new", "--title", f"Short {number}")
        client = Client(store)

        def pages(name, list_name, id_name, key, **arguments):
            found, place = [], 0
            while place is not None:
                part = client.tool(name, **arguments, **({key: place} if place else {}))
                check(f"a page of {name} is short", len(json.dumps(part)) < 45_000, len(json.dumps(part)))
                check(f"a page of {name} holds something", part[list_name], part)
                found += [row[id_name] for row in part[list_name]]
                place = part["next" if key == "from" else "next" + key.capitalize()]
            check(f"nothing is twice in {name}", len(found) == len(set(found)), found)
            return found

        check("every hit is given", len(pages("search_sessions", "hits", "entryId", "skip", query="word", limit=50)) == 61)
        for key in ("skip", "after"):
            check(f"every session is listed by {key}", len(pages("list_sessions", "sessions", "sessionId", key, limit=4)) == 31)
        check("a place that is none is told", "is not one" in client.tool("list_sessions", after="x"))
        check("every entry is read", pages("read_session", "entries", "entryId", "from", session=session, branch="e59") == [f"e{number}" for number in range(60)])
        check("every branch is listed", len(pages("list_branches", "branches", "leafEntryId", "from", session=session)) == 2)
        diff = client.tool("diff_branches", session=session, left="e59", right="other")
        check("the shorter side is whole", [entry["entryId"] for entry in diff["right"]["entries"]] == ["other"] and "readOn" not in diff["right"], diff["right"])
        left = [entry["entryId"] for entry in diff["left"]["entries"]]
        rest = client.tool("read_session", **diff["left"]["readOn"])
        check("a comparison is read on", 0 < len(left) < 50 and [*left, rest["entries"][0]["entryId"]] == [f"e{number}" for number in range(10, 11 + len(left))], left)
        for name, wrong in (("list_sessions", {"limit": 0}), ("read_session", {"session": session, "limit": 0}), ("search_sessions", {"query": "word", "limit": 0})):
            check(f"{name} refuses a page of nothing", "from 1" in client.tool(name, **wrong))
        check("an unknown argument is told", "takes folder" in client.tool("list_sessions", offset=3))
        client.close()


def check_writing(store, session):
    client = Client(store, "--write")
    definitions = json.dumps(client.request("tools/list")["result"], separators=(",", ":"))
    # Fewer than 1,500 tokens: such text has more than three bytes per token.
    check("definitions are short", len(definitions) < 4500, len(definitions))
    made = client.tool("append_message", session=session, role="user", text='say "hi"')
    check("a message is appended", client.tool("read_session", session=session, last=1)["entries"][0]["text"] == 'say "hi"')
    check("a label is set", client.tool("label_entry", session=session, entry=made["entryId"], label="here")["label"] == "here")
    fork = client.tool("fork_session", session=session, title="Fork")["sessionId"]
    check("a fork is made", bough(store, "cat", fork).count("\n") >= 0 and fork != session)
    check("part of an id changes nothing", "entryId" not in client.tool("append_message", session=session[:12], role="user", text="x"))
    check("another role is refused", "role" in client.tool("append_message", session=session, role="system", text="x"))
    client.close()


def check_garbage(store):
    client = Client(store)
    for line in ("garbage", "[]", "{}", '{"jsonrpc":"2.0","id":1}', '{"jsonrpc":"2.0","id":1,"method":"x","params":3}', "[" * 2000):
        client.send_line(line)
        check(f"{line[:20]} is answered with an error", client.answer()["error"]["code"] in (-32700, -32600, -32602))
    for wrong in ("null", "true", "[]", "{}"):
        client.send_line('{"jsonrpc":"2.0","id":%s,"method":"tools/list"}' % wrong)
        check(f"the id {wrong} is refused", client.answer()["error"]["code"] == -32600)
    for blank in ("", " ", "\t\r", "\r"):
        client.send_line(blank)  # needs no answer
    for _ in range(129):
        client.process.stdin.write("x" * (1 << 20))
    client.send_line("")
    check("a line that is too long is refused", client.answer()["error"]["code"] == -32600)
    client.send_line('{"jsonrpc":"2.0","id":7,"result":{}}')
    client.send_line('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}')
    check("the server goes on", "supportedVersions" in client.request("server/discover")["result"])
    client.close()


def check_moving_list():
    """A session that is written to or removed between two pages moves no other to or from a page."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as store:
        sessions = [bough(store, "new") for _ in range(130)]
        for session in sessions:
            bough(store, "append", session, "--role", "user", "--text", "hello")
        client = Client(store)

        def resources(place):
            result = client.request("resources/list", **({"cursor": place} if place else {}))["result"]
            return [each["uri"].rsplit("/", 1)[1] for each in result["resources"]], result.get("nextCursor")

        def tool(place):
            result = client.tool("list_sessions", limit=20, **({"after": place} if place else {}))
            return [each["sessionId"] for each in result["sessions"]], result["nextAfter"]

        for ask in (resources, tool):
            seen, place = ask(None)
            for gone in seen[3:6]:
                bough(store, "rm", gone, "--yes")
            again = sessions.pop(0)
            bough(store, "append", again, "--role", "user", "--text", "again")
            while place is not None:
                page, place = ask(place)
                seen += page
            sessions = [each for each in sessions if each not in seen[3:6]]
            check("no session is listed twice", len(seen) == len(set(seen)), len(seen) - len(set(seen)))
            check("no session that stayed where it was is left out", set(sessions) <= set(seen), set(sessions) - set(seen))
        client.close()


def check_notes():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as store:
        session = bough(store, "new")
        for text in ("one", "two"):
            bough(store, "append", session, "--role", "user", "--text", text)
            note = '{"type":"custom","payload":{"step":1}}\n' * 3
            subprocess.run([BOUGH, "append", session, "--store", store], input=note, text=True, check=True, capture_output=True)
        client = Client(store, "--write")
        for last, texts in ((1, ["two"]), (2, ["one", "two"]), (3, ["one", "two"])):
            read = client.tool("read_session", session=session, last=last)["entries"]
            said = [entry["text"] for entry in read if entry["role"] == "user"]
            check(f"the last {last} are messages", said == texts and (last > 2 or read[0]["text"] == texts[0]), read)
        for name, arguments, tool in (("read_session", {"session": session, "entry": "x"}, "session_tree"), ("fork_session", {"session": session, "entry": "x"}, "session_tree"),
                                      ("append_message", {"session": "x", "role": "user", "text": "x"}, "list_sessions")):
            refused = str(client.tool(name, **arguments))
            check("an error names tools, and no command of a shell", tool in refused and "`bough" not in refused, refused)
        client.close()


def check_unknown_usage():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as store:
        session = bough(store, "new")
        known = {"input_tokens": 1000000, "output_tokens": 0}
        for usage, total in ((None, (1, 1, None, False)), (known, (2, 1, 3.0, False))):
            answer = {"role": "assistant", "model": "claude-sonnet-4-5", "content": "yes", "usage": usage}
            line = json.dumps({"type": "message", "payload": {"dialect": "anthropic", "message": answer}, "meta": {"usage": usage}})
            subprocess.run([BOUGH, "append", session, "--store", store], input=line, text=True, check=True, capture_output=True)
            client = Client(store)
            found = client.tool("usage", by="model")["total"]
            check("answers of which nobody said what they used are counted", tuple(found[name] for name in ("answers", "withoutUsage", "costUsd", "costKnown")) == total, found)
            client.close()


def main():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as store:
        session = bough(store, "new", "--title", "MCP test")
        bough(store, "append", session, "--role", "user", "--text", "hello")
        bough(store, "append", session, "--role", "assistant", "--text", "another way")
        bough(store, "switch", session, "@head~1")
        for text in ("東京へ行く", "three"):
            bough(store, "append", session, "--role", "assistant", "--text", text)
        message = {"type": "message", "payload": {"dialect": "bough", "message": {"role": "user", "content": "木" * 30000 + "end"}}}
        subprocess.run([BOUGH, "append", session, "--store", store], input=json.dumps(message), text=True, check=True, capture_output=True)
        lines = [json.loads(line) for line in bough(store, "cat", session).splitlines()]
        messages = [line["id"] for line in lines if line["type"] == "message"]
        entries = [messages[0], *messages[2:]]
        check_stateless(store)
        check_greeted(store)
        check_reading(store, session, entries)
        check_resources(store, session, entries)
        check_garbage(store)
        check_writing(store, session)
    check_escapes()
    check_damage()
    check_pages()
    check_moving_list()
    check_unknown_usage()
    check_notes()
    print("\n".join(failures))
    print(f"mcp: {len(failures)} problems")
    return 1 if failures else 0


sys.exit(main())
