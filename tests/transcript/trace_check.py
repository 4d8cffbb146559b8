#!/usr/bin/env python3
"""What `bough export --to atif|otel|openinference` writes obeys the formats: trace_check.py BOUGH FIXTURES.

The rules are those of ATIF 1.8 (closed objects, steps numbered from 1, fields that only an agent's step may have, results that name
a call of their step), of OTLP/JSON (ids in hex, 64-bit numbers as text) and of the message schemas of the GenAI conventions."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

TEXT, NUMBER, OBJECT, LIST, BOOL = str, int, dict, list, bool
TRAJECTORY = {"schema_version": TEXT, "session_id": TEXT, "trajectory_id": TEXT, "agent": OBJECT, "steps": LIST, "final_metrics": OBJECT, "extra": OBJECT}
AGENT = {"name": TEXT, "version": TEXT, "model_name": TEXT}
STEP = {"step_id": NUMBER, "timestamp": TEXT, "source": TEXT, "message": TEXT, "is_copied_context": BOOL, "extra": OBJECT}
AGENT_STEP = STEP | {"model_name": TEXT, "reasoning_content": TEXT, "tool_calls": LIST, "observation": OBJECT, "metrics": OBJECT}
CALL = {"tool_call_id": TEXT, "function_name": TEXT, "arguments": OBJECT}
RESULT = {"source_call_id": TEXT, "content": TEXT, "extra": OBJECT}
METRICS = {"prompt_tokens": NUMBER, "completion_tokens": NUMBER, "cached_tokens": NUMBER, "extra": OBJECT}
FINAL = {"total_prompt_tokens": NUMBER, "total_completion_tokens": NUMBER, "total_cached_tokens": NUMBER, "total_steps": NUMBER}
SPAN = {"traceId": TEXT, "spanId": TEXT, "parentSpanId": TEXT, "name": TEXT, "kind": NUMBER, "startTimeUnixNano": TEXT, "endTimeUnixNano": TEXT,
        "attributes": LIST, "status": OBJECT}
PARTS = {"text": {"content": TEXT}, "reasoning": {"content": TEXT}, "tool_call": {"id": TEXT, "name": TEXT, "arguments": OBJECT},
         "tool_call_response": {"id": TEXT, "response": TEXT}}


def closed(value, members, needed):
    """An object with these members and no others."""
    for name, content in value.items():
        assert name in members, f"{name} is not a member"
        assert type(content) is members[name], f"{name} is {content!r}"
    for name in needed:
        assert name in value, f"{name} is missing"


def check_atif(text):
    for line in text.split("\n")[:-1]:  # not splitlines, because U+2028 does not end a line
        trajectory = json.loads(line)
        closed(trajectory, TRAJECTORY, ["schema_version", "agent", "steps"])
        assert trajectory["schema_version"] == "ATIF-v1.8"
        closed(trajectory["agent"], AGENT, ["name", "version"])
        closed(trajectory["final_metrics"], FINAL, FINAL)
        assert trajectory["final_metrics"]["total_steps"] == len(trajectory["steps"])
        for number, step in enumerate(trajectory["steps"], 1):
            assert step["source"] in ("agent", "user", "system")
            closed(step, AGENT_STEP if step["source"] == "agent" else STEP, ["step_id", "source", "message"])
            assert step["step_id"] == number
            calls = [call["tool_call_id"] for call in step.get("tool_calls", [])]
            for call in step.get("tool_calls", []):
                closed(call, CALL, CALL)
            for result in step.get("observation", {}).get("results", []):
                closed(result, RESULT, ["source_call_id", "content"])
                assert result["source_call_id"] in calls
            if "metrics" in step:
                closed(step["metrics"], METRICS, ["prompt_tokens", "completion_tokens"])


def attributes_of(holder):
    found = {}
    for attribute in holder["attributes"]:
        closed(attribute, {"key": TEXT, "value": OBJECT}, ["key", "value"])
        (kind, value), = attribute["value"].items()
        assert attribute["key"] not in found, attribute["key"]
        if kind == "intValue":
            assert re.fullmatch(r"\d+", value) and int(value) < 2**63
            value = int(value)
        elif kind == "arrayValue":
            value = [each["stringValue"] for each in value["values"]]
        else:
            assert kind == "stringValue" and type(value) is str
        found[attribute["key"]] = value
    return found


def check_messages(text, is_output):
    for message in json.loads(text):
        closed(message, {"role": TEXT, "parts": LIST, "finish_reason": TEXT}, ["role", "parts"] + ["finish_reason"] * is_output)
        assert message["role"] in ("system", "user", "assistant", "tool")
        for part in message["parts"]:
            members = PARTS[part["type"]]
            closed(part, members | {"type": TEXT}, members)


def check_spans(text, check_attributes):
    document = json.loads(text)
    (resource,) = document["resourceSpans"]
    assert attributes_of(resource["resource"])["service.name"]
    spans = resource["scopeSpans"][0]["spans"]
    ids = set()
    for number, span in enumerate(spans):
        closed(span, SPAN, ["traceId", "spanId", "name", "kind", "startTimeUnixNano", "endTimeUnixNano"])
        assert re.fullmatch("[0-9a-f]{32}", span["traceId"]) and re.fullmatch("[0-9a-f]{16}", span["spanId"])
        assert span["spanId"] not in ids, "a span id occurs twice"
        assert number == 0 or span["parentSpanId"] in ids, "a parent comes after its child"
        ids.add(span["spanId"])
        assert 0 <= int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"]) < 2**63
        check_attributes(span, attributes_of(span))


def check_otel(span, attributes):
    operation = attributes["gen_ai.operation.name"]
    assert operation in ("invoke_agent", "chat", "execute_tool") and span["name"].startswith(operation)
    if operation == "chat":
        assert attributes["gen_ai.provider.name"] and span["kind"] == 3
        check_messages(attributes["gen_ai.input.messages"], False)
        check_messages(attributes["gen_ai.output.messages"], True)
        if "gen_ai.usage.input_tokens" in attributes:
            cached = attributes["gen_ai.usage.cache_read.input_tokens"] + attributes["gen_ai.usage.cache_write.input_tokens"]
            assert attributes["gen_ai.usage.input_tokens"] >= cached
    if operation == "execute_tool":
        assert type(json.loads(attributes["gen_ai.tool.call.arguments"])) is dict


def check_openinference(span, attributes):
    kind = attributes["openinference.span.kind"]
    assert kind in ("AGENT", "LLM", "TOOL") and attributes["session.id"]
    if kind == "LLM":
        assert attributes["llm.output_messages.0.message.role"] == "assistant" and attributes["llm.system"]
    if kind == "TOOL":
        assert "tool.name" in attributes or not span["name"].removeprefix("execute_tool ")


CHECKS = {"atif": check_atif, "otel": lambda text: check_spans(text, check_otel), "openinference": lambda text: check_spans(text, check_openinference)}


def odd_sessions():
    """Sessions of Claude Code that no sound program writes."""
    def line(number, kind, content, parent=None, time=None, **message):
        uuid = "11111111-1111-4111-8111-{:012}".format
        message |= {"role": kind, "content": content}
        return json.dumps({"type": kind, "uuid": uuid(number), "parentUuid": uuid(parent) if parent else None, "isSidechain": False,
                           "sessionId": "7d3c1a52-0b57-4c39-9f0e-2a64f1d0c8e1", "version": "2.1.0", "cwd": "/tmp",
                           "timestamp": f"2026-01-02T03:04:{number:02}.000Z" if time is None else time, "message": message}) + "\n"

    def call(call_id, name, value):
        return {"type": "tool_use", "id": call_id, "name": name, "input": value}

    def result(call_id, content, **more):
        return {"type": "tool_result", "tool_use_id": call_id, "content": content} | more

    most = 2**64 - 1
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
    yield "calls", (line(1, "user", "hi") +
                    line(2, "assistant", [call("t", "a", "text"), call("t", "", [1]), call("u", "b", None), call("", "c", {})], 1, id="m1") +
                    line(3, "user", [result("t", None), result("u", [image], is_error=True), result("t", "again"), result("nobody", "x")], 2))
    yield "usage", "".join(line(i, "assistant", [{"type": "text", "text": "x"}], i - 1, id=f"m{i}", model="m",
                                usage={"input_tokens": most, "output_tokens": most // 2, "cache_read_input_tokens": most // 2,
                                       "cache_creation_input_tokens": [1.5, -1, "7", None][i % 4]}) for i in range(1, 9))
    times = ["9999-12-31T23:59:59.999Z", "1960-01-01T00:00:00Z", "not a time", "", "2026-01-02T03:04:05.000Z"]
    yield "times", "".join(line(i, "user" if i % 2 else "assistant", f"text {i}", i - 1, times[i % 5], id=f"m{i}") for i in range(1, 9))
    yield "texts", (line(1, "user", "\ud800 \0 \u2028 \x1b[31m") +
                    line(2, "assistant", [{"type": "thinking", "thinking": "", "signature": "s"}, {"type": "redacted_thinking", "data": "z"},
                                          {"type": "text", "text": ""}, {"type": "nonsense"}], 1, id="m1") +
                    line(3, "user", [image, {"type": "nonsense", "a": 1}], 2) + line(4, "assistant", [], 3, id="m2", stop_reason="refusal"))


def main():
    bough, fixtures = sys.argv[1], pathlib.Path(sys.argv[2])
    files = sorted(path for path in fixtures.rglob("*") if path.is_file() and path.name != "sessions.json" and path.suffix != ".png")
    problems, calls, branches = [], 0, 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        for name, text in odd_sessions():
            files.append(pathlib.Path(home, name + ".jsonl"))
            files[-1].write_text(text)
        env = {"PATH": os.environ["PATH"], "HOME": home, "BOUGH_STORE": home + "/store", "NO_COLOR": "1"}
        for path in files:
            for name, check in CHECKS.items():
                done = subprocess.run([bough, "export", path, "--to", name, "--all"], env=env, capture_output=True, text=True)
                if done.returncode and "no conversation" in done.stderr:
                    continue
                try:
                    assert done.returncode == 0, done.stderr
                    check(done.stdout)
                except (AssertionError, KeyError, ValueError) as error:
                    problems.append(f"{path.name} as {name}: {type(error).__name__} {error}")
                if name == "atif":
                    calls += done.stdout.count('"source_call_id"')
                    branches += done.stdout.count('"is_copied_context"')
    if calls < 20 or branches == 0:
        problems.append(f"only {calls} results and {branches} copied steps: the fixtures should have more")
    print(*problems, f"traces of {len(files)} files, {len(problems)} problems", sep="\n")
    sys.exit(1 if problems else 0)


main()
