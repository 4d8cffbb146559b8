#!/usr/bin/env python3
"""What commands print with --json is what `bough schema COMMAND` says: schema.py BOUGH DOCS. BOUGH_UPDATE_GOLDEN=1 rewrites the docs."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

# convert writes a provider's own format, mcp uses its protocol, and store needs a database (tests/postgres).
WITHOUT = {"convert", "mcp"}
UNTRIED = {"store", "error"}

ENTRIES = "\n".join(json.dumps({"id": name, "type": "message", "payload": {"dialect": "anthropic", "message": message}}) for name, message in {
    "u1": {"role": "user", "content": "find the parser"},
    "a1": {"role": "assistant", "model": "claude-sonnet-4-5", "usage": {"input_tokens": 10, "output_tokens": 5},
           "content": [{"type": "tool_use", "id": "t1", "name": "bash", "input": {"command": "ls"}}]},
    "r1": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "is_error": True, "content": "no"}]},
    "a2": {"role": "assistant", "model": "nobodys-model", "usage": {"input_tokens": 1, "output_tokens": 5}, "content": [{"type": "text", "text": "done"}]},
}.items())

# Run in this order. Words after `<` are written to stdin.
COMMANDS = [
    ["--json"],
    ["new", "--id", "one", "--title", "A title", "--cwd", "/some/where", "--key", "main:cli:me"],
    ["new", "--id", "two"],
    ["append", "one", "<", ENTRIES],
    ["--json"],
    ["rename", "two", ""],
    ["rename", "two", "Another title"],
    ["label", "one", "good", "a2"],
    ["labels", "one"],
    ["switch", "one", "a1"],
    ["switch", "one", "@start"],
    ["switch", "one", "-"],
    ["heads", "one"],
    ["restore", "one", "good"],
    ["fork", "one", "a1", "--id", "forked"],
    ["diff", "one", "forked"],
    ["replay", "one"],
    ["ls"],
    ["ls", "--long"],
    ["ls", "--state", "unfinished"],
    ["show", "one"],
    ["show", "one", "--all"],
    ["tree", "one"],
    ["tree", "two"],
    ["branches", "one"],
    ["search", "parser"],
    ["search", "title"],
    ["search", "parser", "-C", "1"],
    ["search", "--fixed", "done", "--sessions-with"],
    ["usage"],
    ["usage", "one", "--by", "branch"],
    ["usage", "--by", "block"],
    ["usage", "--by", "folder"],
    ["usage", "--price-table"],
    ["context", "one", "--as", "openai-chat"],
    ["context", "one", "--explain"],
    ["new", "--id", "empty"],
    ["context", "empty"],
    ["heads", "empty"],
    ["branches", "empty"],
    ["diff", "empty", "one"],
    ["trash"],
    ["prune", "--older-than", "0m"],
    ["compat", "one", "--to", "gemini"],
    ["migrate-provider", "one", "--to", "gemini"],
    ["export", "one", "--to", "pi", "-o", "for-pi.jsonl"],
    ["export", "one", "--to", "codex", "--all", "-o", "for-codex"],
    ["export", "one", "--to", "otel", "-o", "trace.json"],
    ["import", "for-pi.jsonl"],
    ["resume", "one", "--in", "pi"],
    ["resume", "one", "--in", "claw0", "--dry-run", "--cwd-map", "/some/where=/usr"],
    ["ls", "--agents", "--long"],
    ["search", "parser", "--agents"],
    ["search", "--regex", "pars.r", "-C", "1"],
    ["usage", "--agents"],
    ["show", "for-pi.jsonl"],
    ["verify", "for-pi.jsonl"],
    ["repair", "for-pi.jsonl", "--out", "clean.jsonl"],
    ["migrate", "old.json"],
    ["prune", "--agents", "pi", "--older-than", "0m"],
    ["prune", "--agents", "pi", "--older-than", "0m", "--apply"],
    ["keep", "--install"],
    ["keep"],
    ["keep", "--uninstall"],
    ["torn", "one"],
    ["redact", "one", "r1", "--reason", "private", "--by", "me"],
    ["follow", "one", "--from", "@start", "--idle", "1"],
    ["cat", "one"],
    ["verify"],
    ["doctor"],
    ["repair", "one"],
    ["repair", "--unused-attachments"],
    ["migrate", "one"],
    ["archive", "two"],
    ["reindex"],
    ["prune", "--older-than", "0m"],
    ["prune", "two", "--ttl", "30d"],
    ["prune", "--default-ttl", "365d"],
    ["prune", "--default-ttl", "off"],
    ["copy", "one", "--to", "other-store"],
    ["sync", "store", "other-store"],
    ["chat", "-p", "hello", "--model", "offline/echo", "--new"],
    ["rm", "forked", "--yes"],
    ["trash"],
    ["trash", "--restore", "forked"],
    ["rm", "forked", "--yes"],
    ["trash", "--empty", "--yes"],
    ["label", "one", "good", "--remove"],
    ["erase", "one", "--pattern", "parser", "--reason", "private", "--by", "me"],
    ["erase", "one", "r1", "--reason", "private", "--by", "me"],
    ["completion", "bash"],
    ["completion", "fish", "--", "la"],
    ["help"],
    ["help", "ls"],
    ["help", "--format", "man"],
    ["schema"],
    ["schema", "ls"],
    ["version"],
]

ERRORS = [["show", "nothing"], ["nothing"], ["ls", "--limit", "x"], ["append", "one", "--expect-tail", "x", "--role", "user", "--text", "hi"]]


def problems(value, schema, root, path="$"):
    """What is wrong with a value, by the words of JSON Schema that bough uses."""
    if "$ref" in schema:
        return problems(value, root["$defs"][schema["$ref"].rsplit("/", 1)[1]], root, path)
    found = []
    for each in schema.get("allOf", []):
        found += problems(value, each, root, path)
    if "anyOf" in schema and all(problems(value, each, root, path) for each in schema["anyOf"]):
        found.append(f"{path} is {value!r}, which is none of {schema['anyOf']}")
    if "const" in schema and value != schema["const"]:
        found.append(f"{path} is {value!r}, not {schema['const']!r}")
    kinds = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "null": type(None), "array": list, "object": dict}
    kind = schema.get("type")
    if kind and (not isinstance(value, kinds[kind]) or (isinstance(value, bool) and kind in ("integer", "number"))):
        return found + [f"{path} is {value!r}, not of type {kind}"]
    if "minimum" in schema and value < schema["minimum"]:
        found.append(f"{path} is {value}, less than {schema['minimum']}")
    if kind == "object":
        found += [f"{path} has no member {name}" for name in schema.get("required", []) if name not in value]
        for name, inner in schema.get("properties", {}).items():
            if name in value:
                found += problems(value[name], inner, root, f"{path}.{name}")
    if kind == "array":
        for place, each in enumerate(value):
            found += problems(each, schema["items"], root, f"{path}[{place}]")
    return found


def shapes(schema, root):
    """All objects that a value may be, without names between."""
    if "$ref" in schema:
        return shapes(root["$defs"][schema["$ref"].rsplit("/", 1)[1]], root)
    return [schema] + [each for inner in schema.get("allOf", []) + schema.get("anyOf", []) for each in shapes(inner, root)]


def unnamed(value, schemas, root, path="$"):
    """Members of a value that no schema names; a schema without members allows any."""
    known = [each for schema in schemas for each in shapes(schema, root)]
    found = []
    if isinstance(value, dict) and any(each.get("properties") for each in known):
        for name, inner in value.items():
            named = [each["properties"][name] for each in known if name in each.get("properties", {})]
            found += unnamed(inner, named, root, f"{path}.{name}") if named else [f"{path}.{name} is not in the schema"]
    if isinstance(value, list):
        for inner in value:
            found += unnamed(inner, [each["items"] for each in known if "items" in each], root, f"{path}[]")
    return found


# Text from a person or a model, which may be empty.
MAY_BE_EMPTY = {"text", "details", "examples"}


def empty(value, path="$"):
    """Members that are an empty text: what is absent is null. What a provider gets is not ours."""
    found = []
    for name, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        if inner == "" and name not in MAY_BE_EMPTY:
            found.append(f'{path}.{name} is "", not null')
        elif name not in ("request", "payload"):
            found += empty(inner, f"{path}.{name}")
    return found


def main():
    bough = str(pathlib.Path(sys.argv[1]).resolve())
    docs = pathlib.Path(sys.argv[2])
    page = subprocess.run([bough, "schema", "--format", "markdown"], check=True, capture_output=True).stdout.decode()
    if os.environ.get("BOUGH_UPDATE_GOLDEN"):
        docs.write_text(page)
    failed = [] if docs.read_text() == page else [f"{docs} is not what `bough schema --format markdown` prints"]
    schema = lambda name: json.loads(subprocess.run([bough, "schema", name], check=True, capture_output=True).stdout)
    known = json.loads(subprocess.run([bough, "schema", "--json"], check=True, capture_output=True).stdout)["commands"]
    commands = [each["name"] for group in json.loads(subprocess.run([bough, "help", "--json"], check=True, capture_output=True).stdout)["groups"]
                for each in group["commands"]]
    failed += [f"{name} has no schema" for name in commands if name not in known and name not in WITHOUT]
    failed += [f"{name} is never tried here" for name in known
               if name not in UNTRIED and name not in [words[0] for words in COMMANDS] and name not in ("bough",)]
    checked = 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        environment = {"PATH": os.environ["PATH"], "HOME": folder, "BOUGH_STORE": f"{folder}/store", "LC_ALL": "C.UTF-8"}

        pathlib.Path(folder, "old.json").write_text('{"messages": [{"id": "1", "role": "user", "content": "hello", "timestamp": "2026-01-01T00:00:00.000Z"}]}')

        def run(words, stream):
            text = words[words.index("<") + 1] if "<" in words else ""
            words = words[:words.index("<")] if "<" in words else list(words)
            where = words.index("--") if "--" in words else len(words)
            done = subprocess.run([bough, *words[:where], *([] if "--json" in words else ["--json"]), *words[where:]], cwd=folder, env=environment,
                                  input=text.encode(), capture_output=True)
            return done.returncode, [json.loads(line) for line in getattr(done, stream).splitlines()], done.stderr.decode()

        for words in COMMANDS:
            name = "bough" if words == ["--json"] else words[0]
            code, answers, stderr = run(words, "stdout")
            if not answers:
                failed.append(f"{' '.join(words)[:60]} printed nothing: {code} {stderr[:200]}")
            for answer in answers:
                if words == ["schema", "ls"]:
                    continue  # that answer is itself a schema
                whole = schema(name)
                failed += [f"{' '.join(words)[:60]}: {each}" for each in problems(answer, whole, whole) + unnamed(answer, [whole], whole) + empty(answer)][:5]
                checked += 1
        for words in ERRORS:
            code, answers, _ = run(words, "stderr")
            if code == 0 or len(answers) != 1:
                failed.append(f"{' '.join(words)} must fail with one object")
            for answer in answers:
                whole = schema("error")
                failed += [f"{' '.join(words)}: {each}" for each in problems(answer, whole, whole) + empty(answer)]
    # Checks the test itself: it notices a value of a wrong type and a missing member.
    whole = schema("switch")
    if not unnamed({"schema": 1, "sessionId": "x", "headId": None, "other": 1}, [whole], whole) or not problems({"schema": 1, "sessionId": 5, "headId": None}, whole, whole) or not problems({"schema": 1, "sessionId": "x"}, whole, whole):
        failed.append("the test does not notice wrong answers")
    print("\n".join(failed[:40]) or f"{checked} answers are as their schemas say")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
