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
    for line in text.split("\n")[:-1]:  # not splitlines: U+2028 ends no line
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
            assert re.fullmatch(r"\d+", value)
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
        assert int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"])
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


def main():
    bough, fixtures = sys.argv[1], pathlib.Path(sys.argv[2])
    files = sorted(path for path in fixtures.rglob("*") if path.is_file() and path.name != "sessions.json" and path.suffix != ".png")
    problems, calls, branches = [], 0, 0
    with tempfile.TemporaryDirectory() as home:
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
                    problems.append(f"{path.relative_to(fixtures)} as {name}: {type(error).__name__} {error}")
                if name == "atif":
                    calls += done.stdout.count('"source_call_id"')
                    branches += done.stdout.count('"is_copied_context"')
    if calls < 20 or branches == 0:
        problems.append(f"only {calls} results and {branches} copied steps: the fixtures should have more")
    print(*problems, f"traces of {len(files)} files, {len(problems)} problems", sep="\n")
    sys.exit(1 if problems else 0)


main()
