#!/usr/bin/env python3
"""Reads a session file as docs/format.md says: prints what counts, then what is not as it should be."""
import json, re, sys
TABLE = list(range(256))
for _ in range(8): TABLE = [n >> 1 ^ (0x82F63B78 if n & 1 else 0) for n in TABLE]
ID = "[A-Za-z0-9._:-]{1,128}"
SEAL = re.compile(rb',"seal":"(([1-9]\d{0,6})/([1-9]\d{0,6})) ([0-9a-f]{8})"}\Z')
BEGIN = re.compile(r'{"id":"(ID)","parentId":(?:null|"(ID)"),"type":"([^"\\]{1,150})"'.replace("ID", ID).encode())

def crc(data):
    c = 0xFFFFFFFF
    for byte in data: c = TABLE[(c ^ byte) & 255] ^ c >> 8
    return b"%08x" % (c ^ 0xFFFFFFFF)

def whole(line):  # id, parentId and type when the whole line is an entry
    try:
        depth, number = [0], lambda digits: (digits,)
        for c in re.sub(rb'"(?:[^"\\]|\\.)*"', b"", line): depth.append(depth[-1] + (c in b"[{") - (c in b"]}"))
        e = json.loads(line.decode("utf-8"), object_pairs_hook=lambda pairs: dict(reversed(pairs)),
                       parse_int=number, parse_float=number, parse_constant=int)
        parent, time = e.get("parentId"), e.get("timestamp", "")
        ids = [e["id"]] if parent in (None, "") else [e["id"], parent]
        fine = (max(depth) <= 512 and all(re.fullmatch(ID, id) for id in ids) and isinstance(e.get("runId", ""), str)
                and all(isinstance(e.get(name, {}), dict) for name in ("payload", "meta"))
                and (isinstance(time, str) or time[0].isdigit() and int(time[0]) <= 253402300799999))
        return fine and e["type"] + "" and (e["id"], parent or None, e["type"])
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError): return None

def had_seal(line):  # for a line that is an entry without a seal: was the text or the name of its seal changed?
    fits = lambda text: (m := SEAL.fullmatch(b',"seal":"' + text + b'"}')) and int(m[2]) <= int(m[3]) <= 1000000
    e = json.loads(line.decode("utf-8"), object_pairs_hook=lambda pairs: dict(reversed(pairs)))
    if "seal" in e: return not (isinstance(e["seal"], str) and fits(e["seal"].encode("utf-8", "surrogatepass")))
    return bool(line.endswith(b'"}') and fits(line[:-2].rpartition(b'"')[2]))

def read(data):
    counting, found, held, suspects = [], [], [], []  # lines: offset, size, keys, size with the line end, batch
    last, repaired, lost, at, counted = b"", None, False, 0, 0
    for full in re.findall(rb"[^\n]*\n|[^\n]+\Z", data):
        bare, offset, at = full.removesuffix(b"\n"), at, at + len(full)
        text, size = bare.removeprefix(b"\xef\xbb\xbf" if offset == 0 else b""), len(bare)
        line = text.removesuffix(b"\r")
        blank, seal, begin, i, n = not line.strip(b" \t"), SEAL.search(line), BEGIN.match(line), 1, 1
        found += [(0, 3, "line_ending")] * (text != bare) + [(offset, size, "line_ending")] * ((line != text) + blank)
        if blank: counted = counted if suspects or held or full == bare else at; continue
        if seal and int(seal[2]) <= int(seal[3]) <= 1000000:
            i, n, summed = int(seal[2]), int(seal[3]), line[:seal.start()] + seal[1]
            right = crc(last + summed)
            sure = seal[4] == right or repaired and seal[4] == crc(repaired + summed)
            keys = [k and k.decode() for k in begin.groups()] if sure and begin else (sure or lost) and whole(line)
            last, repaired, lost = seal[4], None if sure or lost else right, False
        else: seal, sure, keys, repaired, lost = None, False, whole(line), None, True
        doubt = bool(keys) and not sure
        changed = bool(keys) and not seal and had_seal(line)
        found += [(offset, size, "broken_batch")] * changed
        found += [(offset, size, "unsealed")] * (bool(keys) * ((doubt and not seal and not changed) + (not begin)))
        if not keys or not seal or i != len(held) + 1 or held and n != held[0][4]: suspects, held = suspects + held, []
        (held if keys and i == len(held) + 1 else suspects).append((offset, size, keys, len(full), n, doubt and seal))
        if not held or i < n: continue
        found += [(s[0], s[1], "broken_batch") if s[2] else (s[0], s[3], "damage") for s in suspects]
        found += [(h[0], h[1], "broken_batch") for h in held if h[5]]
        counting, suspects, held, counted = counting + [s for s in suspects if s[2]] + held, [], [], at
    return counting, found + [(counted, len(data) - counted, "torn")] * (counted < len(data))

if __name__ == "__main__":
    (lines, found), ids = read(open(sys.argv[1], "rb").read()), set()
    for offset, size, (id, parent, type), *_ in lines:
        if id in ids: found.append((offset, size, "duplicate_id"))
        else: print(json.dumps({"id": id, "parentId": parent, "type": type}, separators=(",", ":"), ensure_ascii=False))
        ids.add(id)
    for problem in sorted(found): print(*problem)
