#!/usr/bin/env python3
"""Writes the golden logs of tests/golden/format: whole ones as docs/format.md says, and the same with damage."""
import json, pathlib, sys
sys.dont_write_bytecode = True
from reader import crc

FOLDER = pathlib.Path(__file__).parent.parent / "golden" / "format"
TIME = "2026-11-14T23:47:00.862Z"
written = {}


def dense(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def body(id, parent=None, type="message", payload=None, **more):
    """An entry's line without its closing brace."""
    payload = {"dialect": "bough", "message": {"role": "user", "content": f"text of {id}"}} if payload is None else payload
    entry = {"id": id, "parentId": parent, "type": type, "timestamp": TIME}
    if "runId" in more: entry["runId"] = more.pop("runId")
    entry["payload"] = payload
    return dense(entry | more)[:-1].encode()


def header(session, **payload):
    return body("h", type="session_header", payload={"format": 1, "sessionId": session} | payload)


def sealed(*batches):
    """The lines of a log: each batch a list of bodies."""
    lines, last = [], b""
    for batch in batches:
        for i, text in enumerate(batch, 1):
            place = b"%d/%d" % (i, len(batch))
            last = crc(last + text + place)
            lines.append(text + b',"seal":"' + place + b" " + last + b'"}\n')
    return lines


def chain(first, last):
    return [body(f"e{i}", f"e{i - 1}" if i > 1 else None) for i in range(first, last + 1)]


def write(name, lines):
    written[name] = b"".join(lines)


def usual(name):
    """A header, three batches of one, a batch of three, a batch of one: lines 0 to 7."""
    return sealed([header(name)], *[[e] for e in chain(1, 3)], chain(4, 6), [body("e7", "e6")])


def changed(name, damage):
    lines = usual(name)
    result = damage(lines)
    write(name, lines if result is None else result)


def put(index, make):
    def damage(lines):
        lines[index] = make(lines[index])
    return damage


def flip(line, at):
    return line[:at] + bytes([line[at] ^ 1]) + line[at + 1:]


# Intact logs.
write("plain", usual("plain"))
write("batches", sealed([header("batches"), body("info", type="session_info", payload={"title": "Batches"})], chain(1, 10),
                        [body("e11", "e10")], [body(f"n{i}", "e11") for i in range(100)]))
write("parent", sealed([header("parent")], chain(1, 3), [body("side", "e1")]))
write("fork", sealed([header("fork", parentSession={"sessionId": "parent", "entryId": "e2"})], [body("f1", "e2"), body("f2", "f1")]))
write("unknown", sealed([header("unknown", colour="green")], [body("e1", type="hologram", payload={"a": {"b": [1, 2.50, None]}}),
                        body("e2", "e1", runId="run-1", meta={"cost": 0.1}, vendor={"x": [True]}, **{"x-y": "z"})]))
write("controls", sealed([header("controls")], chain(1, 4), [body("c1", "e4", "head", {"entryId": "e2"})],
                         [body("c2", "e2", "label", {"entryId": "e3", "name": "good"}), body("c3", "e2", "session_info", {"title": "T"})],
                         [body("e5", "e2"), body("c4", "e5", "redaction", {"entryId": "e1", "by": "me", "reason": "secret"})],
                         [body("c5", "e5", "head", {"entryId": None})], [body("t1", "e5", "tool_start", {"toolCallId": "1"})]))
write("unicode", sealed([header("unicode", cwd="/tmp/müller 日本")], [body("e1", payload={"t": "日本語 \U0001F600 \u2028 \x7f"}),
                        body("e2", "e1", runId='r "quoted" \\ é')], [b'{"id":"e3","parentId":"e2","type":"custom","timestamp":"' + TIME.encode() +
                        b'","payload":{"lone":"\\ud800","nul":"\\u0000","big":123456789012345678901234567890e400, "same":1,"same":2}']))
write("example", sealed([body("h1", type="session_header", payload={"format": 1, "sessionId": "s1"})],
                        [body("a1", payload={"dialect": "bough", "message": {"role": "user", "content": "Hi"}}, timestamp="2026-11-14T23:47:01.000Z"),
                         body("a2", "a1", payload={"dialect": "bough", "message": {"role": "assistant", "content": "Hello"}}, timestamp="2026-11-14T23:47:02.000Z")]))
write("no_final_newline", [b"".join(usual("no_final_newline"))[:-1]])
write("batch_no_final_newline", [b"".join(sealed([header("batch_no_final_newline")], chain(1, 3)))[:-1]])

# Logs from other tools: without seals, with another order of members, other line ends.
unsealed = lambda name: [header(name) + b"}\n"] + [e + b"}\n" for e in chain(1, 3)]
write("unsealed", unsealed("unsealed"))
write("unsealed_then_sealed", unsealed("unsealed_then_sealed") + sealed([body("e4", "e3")], [body("e5", "e4"), body("e6", "e5")]))
write("hand_made", [b'{ "type": "session_header", "id": "h", "timestamp": 1731628020862, "payload": { "format": 1 } }\n',
                    b'{"payload":{},"type":"custom","parentId":"h","id":"a","timestamp":"yesterday"}\n',
                    b'{"id":"b","type":"custom"}\n', b'\t{"id":"\\u0063","parentId":"","type":"a b","meta":{}} \n',
                    b'{"id":"d","parentId":"c","type":"custom","id":"x","parentId":null}\n'])
write("not_entries", sealed([header("not_entries")]) + [text + b"\n" for text in (
    b"[]", b'"text"', b"7", b"null", b"{}", b'{"id":"a"}', b'{"type":"custom"}', b'{"id":"a b","type":"custom"}',
    b'{"id":"a","type":""}', b'{"id":7,"type":"custom"}', b'{"id":"a","type":"custom","parentId":7}',
    b'{"id":"a","type":"custom","parentId":false}', b'{"id":"a","type":"custom","parentId":"x y"}',
    b'{"id":"a","type":"custom","payload":[]}', b'{"id":"a","type":"custom","meta":null}',
    b'{"id":"a","type":"custom","timestamp":null}', b'{"id":"a","type":"custom","timestamp":-1}',
    b'{"id":"a","type":"custom","timestamp":1.5}', b'{"id":"a","type":"custom","timestamp":253402300800000}',
    b'{"id":"a","type":"custom","runId":null}', b'{"id":"a","type":"custom","x":NaN}', b'{"id":"a","type":"custom","x":01}',
    b'{"id":"a","type":"custom","x":"\t"}', b"{'id':'a','type':'custom'}", b'{"id":"a","type":"custom",}',
    b'{"id":"' + b"a" * 129 + b'","type":"custom"}')] + [b'{"id":"ok","type":"custom"}\n'])
other = sealed([header("other_order")], [body("e1")[:-1].replace(b'{"id":"e1","parentId":null,', b'{"parentId":null,"id":"e1",') + b"}"],
               [body("e2", "e1"), b'{"type":"custom","id":"e3","parentId":"e2"'], [body("e4", "e3")])
write("other_order", other)
write("blanks_in_one_line", [l if i != 2 else b'{"id": "e2", "parentId": "e1", "type": "custom"}\n' for i, l in enumerate(usual("blanks_in_one_line"))])
write("trailing_blank", [l if i != 2 else l[:-1] + b" \n" for i, l in enumerate(usual("trailing_blank"))])
write("crlf", [l[:-1] + b"\r\n" for l in usual("crlf")])
write("bom", [b"\xef\xbb\xbf"] + usual("bom"))
write("bom_crlf_unsealed", [b"\xef\xbb\xbf"] + [l[:-1] + b"\r\n" for l in unsealed("bom_crlf_unsealed")])
write("bom_in_the_middle", [b"\xef\xbb\xbf" + l if i == 2 else l for i, l in enumerate(usual("bom_in_the_middle"))])
blank = usual("blank_lines")
write("blank_lines", [b"\n"] + blank[:5] + [b" \t\n", b"\r\n"] + blank[5:] + [b"\n\n"])
write("blank_at_the_end", usual("blank_at_the_end") + [b"  "])

# Torn tails.
changed("torn_half_line", put(7, lambda l: l[:60]))
changed("torn_half_seal", put(7, lambda l: l[:-6]))
changed("torn_batch", lambda lines: lines[:6])
changed("torn_batch_half_line", lambda lines: lines[:5] + [lines[5][:40]])
changed("torn_zeros", lambda lines: lines + [b"\0" * 600])
changed("torn_zero_page_in_batch", lambda lines: lines[:4] + [lines[4][:50] + b"\0" * (len(lines[4]) - 50) + b"\0" * 30 + lines[5][30:], lines[6]])
changed("torn_garbage", lambda lines: lines + [bytes(range(128, 256)) + b"\n", b"more\n", b"\xff"])
changed("torn_sum", put(7, lambda l: flip(l, 80)))

# Damage in the middle.
changed("flipped_payload", put(2, lambda l: flip(l, l.index(b"text of") + 1)))
changed("flipped_payload_in_batch", put(5, lambda l: flip(l, l.index(b"text of") + 1)))
changed("flipped_digit", put(2, lambda l: flip(l, len(l) - 5)))
changed("flipped_digit_in_batch", put(4, lambda l: flip(l, len(l) - 5)))
changed("flipped_place", put(2, lambda l: l.replace(b"1/1", b"1/3")))
changed("flipped_both", put(2, lambda l: flip(flip(l, len(l) - 5), 90)))
changed("two_flipped", lambda lines: [flip(l, l.index(b"text of")) if i in (2, 3) else l for i, l in enumerate(lines)])
changed("destroyed_seal", put(2, lambda l: l[:-12] + b"#" * 11 + b"\n"))
changed("destroyed_line", put(2, lambda l: b"#" * 40 + b"\n"))
changed("destroyed_seal_then_flipped", lambda lines: [lines[0], lines[1], b"#\n", flip(lines[3], lines[3].index(b"text of"))] + lines[4:])
changed("removed_seal", put(2, lambda l: l[:l.index(b',"seal"')] + b"}\n"))
changed("deleted_line", lambda lines: lines[:2] + lines[3:])
changed("deleted_line_in_batch", lambda lines: lines[:5] + lines[6:])
changed("deleted_first_of_batch", lambda lines: lines[:4] + lines[5:])
changed("swapped_lines", lambda lines: lines[:1] + [lines[2], lines[1]] + lines[3:])
changed("repeated_line", lambda lines: lines[:3] + [lines[2]] + lines[3:])
changed("nul_run", put(2, lambda l: l[:40] + b"\0" * 80 + l[120:]))
changed("nul_over_line_end", lambda lines: lines[:2] + [lines[2][:-20] + b"\0" * 40 + lines[3][20:]] + lines[4:])
changed("two_on_one_line", lambda lines: lines[:2] + [lines[2][:-1] + lines[3]] + lines[4:])
changed("broken_batch", lambda lines: lines[:6] + lines[7:])
changed("two_batches_mixed", lambda lines: lines + sealed([body("x1")], [body("x2"), body("x3")])[1:2] + usual("two_batches_mixed")[4:6])
changed("bad_places", lambda lines: lines + [b'{"id":"z%d","parentId":null,"type":"custom","seal":"%s 00000000"}\n' % (i, p) for i, p in
                    enumerate((b"0/1", b"2/1", b"01/1", b"1/1000001", b"1/", b"-1/1", b"1/99999999999"))])
changed("not_utf8", put(2, lambda l: l.replace(b"text of", b"\xc3\x28\xff")))
write("not_utf8_unsealed", unsealed("not_utf8_unsealed") + [b'{"id":"x","type":"custom","payload":{"t":"\xed\xa0\x80"}}\n', b'{"id":"y","type":"custom"}\n'])

# Problems that only all entries together show.
write("duplicate_ids", sealed([header("duplicate_ids")], [body("e1")], [body("e2", "e1")], [body("e1", "e2")], [body("e3", "e1"), body("e3", "e2")]))
write("parents", sealed([header("parents")], [body("self", "self")], [body("early", "late")], [body("late")], [body("lost", "nobody")]))
write("no_header", sealed([body("e1")], [body("e2", "e1")]))
write("two_headers", sealed([header("two_headers")], [body("e1")], [body("h2", type="session_header", payload={"format": 1, "sessionId": "two_headers"})]))
write("newer", sealed([header("newer", format=2)], [body("e1", type="from_the_future")]))
write("empty", [])
write("only_blank", [b"\n \n"])
write("not_json", [b"This is a letter.\nIt has two lines.\n"])
write("nested_512", sealed([header("nested_512")]) + [b'{"id":"a","type":"custom","payload":' + b'{"a":' * 510 + b"{}" + b"}" * 510 + b"}\n",
                           b'{"id":"b","type":"custom","payload":' + b'{"a":' * 511 + b"{}" + b"}" * 511 + b"}\n", b'{"id":"c","type":"custom"}\n'])
write("nested_10000", sealed([header("nested_10000")]) + [b'{"id":"a","type":"custom","payload":{"a":' + b"[" * 10000 + b"]" * 10000 + b"}}\n",
                             b'{"id":"b","type":"custom"}\n'])
write("format_0", [b'{"type":"session_header","id":"h","parentId":null,"timestamp":1731628020862,"payload":{"version":0,"key":"main:cli:user"}}\n',
                   b'{"id":"e1","timestamp":"2025-01-02T03:04:05Z","type":"message","parentId":null,"payload":{"role":"user","content":"Hi"}}\n',
                   b'{"parentId":"e1","id":"e2","type":"message","timestamp":"2025-01-02T03:04:06Z","payload":{"role":"assistant","content":"Hello"}}\n'])

FOLDER.mkdir(parents=True, exist_ok=True)
for name, data in written.items():
    (FOLDER / f"{name}.jsonl").write_bytes(data)
print(f"{len(written)} logs, {sum(map(len, written.values()))} bytes")
