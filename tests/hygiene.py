#!/usr/bin/env python3
"""Holds the repository to its own rules: hygiene.py ROOT."""
import collections
import pathlib
import re
import subprocess
import sys

MAX_FILE_LINES = 500
MAX_FOLDER_SOURCES = 25
MAX_CLASS_MEMBERS = 30
MAX_FILE_BYTES = 1 << 20

# Classes that may have more members: how many, and why.
LARGE_CLASSES = {
    # The public interface: the functions named in the specification forward to Session, one line each.
    "SessionStore": 70,
    "Session": 35,
    # Questions about a tree; each is answered from the same five fields.
    "SessionTree": 39,
    # Everything that a user can do in a chat.
    "Chat": 48,
    "ReplCommands": 40,
    # Readers and writers of a grammar: one function for each kind.
    "Builder": 48,
    "TranscriptWriting": 49,
    "Planner": 40,
    # The index of a log and its freshness; one lock guards all fields.
    "LogIndex": 35,
}
# Public members without a default value: a folder is open.
WITHOUT_VALUE = {"ToolEnvironment::folder"}
# Folders of one room that include each other, and why: (from, to).
ARROWS_BACK = {}
# Folders whose files may include each other only in one direction. A header and its source count as one file.
ONE_WAY_FOLDERS = ["cli/names"]


def strip_comments_and_strings(text):
    """Blanks out comments and literals, so that braces and semicolons in them do not count."""
    pattern = r'//[^\n]*|/\*.*?\*/|R"\(.*?\)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
    return re.sub(pattern, lambda match: re.sub(r"[^\n]", " ", match.group()), text, flags=re.S)


def class_bodies(text):
    """Yields (name, body) for every class or struct that is defined in the text, nested ones too."""
    for match in re.finditer(r"\b(?:class|struct)\s+(?:\[\[\w+\]\]\s*)?(?:[A-Z_]+(?:\([^)]*\))?\s+)?(\w+)[^;{}()]*\{", text):
        depth, at = 1, match.end()
        while at < len(text) and depth:
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            at += 1
        yield match.group(1), text[match.end() : at - 1]


def statements(body):
    """The statements of a class, each without what stands in its braces."""
    flat, depth = "", 0
    for character in body:
        if character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
            if depth == 0:
                flat += "{};"
        elif depth == 0:
            flat += character
    for statement in flat.split(";"):
        statement = re.sub(r"\b(public|private|protected)\s*:", "", statement).strip()
        if statement and statement != "{}":
            yield statement


def member_count(class_name, body):
    """Counts functions and fields; not nested types, aliases, friends, constants, constructors, what is defaulted or deleted, and
    what an interface demands (that is counted there)."""
    count = 0
    for statement in statements(body):
        if re.match(r"(using|friend|enum|class|struct|static_assert|static constexpr|template\s*<[^>]*>\s*friend)\b", statement):
            continue
        if re.search(r"=\s*(default|delete)\s*(\{\})?$|\boverride\b", statement) or re.match(rf"(explicit\s+)?~?{class_name}\(", statement):
            continue
        count += 1
    return count


def check_public_header(name, text, problems):
    """No Result is thrown away unseen, and who names a few members of a struct is not warned about the others."""
    code = re.sub(r"\benum class[^{;]*\{[^}]*\}", "enum", strip_comments_and_strings(text))
    for match in re.finditer(r"^[ \t]*((?:\w+ )*)Result<[^;{}]*?>\s+(\w+)\(", code, flags=re.M):
        problems.append(f"{name}: {match.group(2)} returns a Result and is not [[nodiscard]]")
    for class_name, body in class_bodies(code):
        for statement in statements(body):
            member = re.fullmatch(r"(?!using|friend|enum|class|struct|static|virtual)(?:std::function<.*>|[a-zA-Z][^=&()]*)\s+(\w*[^\W_])", statement, flags=re.S)
            if member and f"{class_name}::{member.group(1)}" not in WITHOUT_VALUE:
                problems.append(f"{name}: {class_name}::{member.group(1)} has no initial value; `= {{}}` says so")


def check_text(name, path, text, problems):
    if path.suffix in {".cpp", ".h"}:
        lines = text.count("\n")
        if lines > MAX_FILE_LINES:
            problems.append(f"{name}: {lines} lines; a file past {MAX_FILE_LINES} is two files")
        if re.search(r'#include "\.\./', text):
            problems.append(f"{name}: includes a file by a path that goes up, around the rooms' doors")
        if name.endswith(".h") and not text.startswith(("//", "/*")):
            problems.append(f"{name}: a header begins with what it is for")
        if re.search(r"\b(TODO|FIXME|XXX)\b", text):
            problems.append(f"{name}: unfinished work")
        if name.startswith("include/") and not name.endswith("_c.h"):
            check_public_header(name, text, problems)
        if name.startswith(("src/", "include/")):
            for class_name, body in class_bodies(strip_comments_and_strings(text)):
                members = member_count(class_name, body)
                if members > LARGE_CLASSES.get(class_name, MAX_CLASS_MEMBERS):
                    problems.append(f"{name}: {class_name} has {members} members; more than {MAX_CLASS_MEMBERS} are two classes")
    if re.search(r"(?<![\w.])/(work|root)/", text) and name != "tests/hygiene.py":
        problems.append(f"{name}: a path of one machine")


def check_licenses(root, problems):
    """Each package carries the licence, as a file of its own: `npm pack` leaves links out."""
    copies = [("LICENSE", "bindings/node/LICENSE"), ("LICENSE", "bindings/python/LICENSE"),
              ("bindings/node/THIRD_PARTY_LICENSES", "bindings/python/THIRD_PARTY_LICENSES")]
    for text, copy in copies:
        if (root / text).read_bytes() != (root / copy).read_bytes():
            problems.append(f"{copy}: is not what {text} is")


def check_folders(names, problems):
    folders = collections.Counter(str(pathlib.PurePath(name).parent) for name in names if name.startswith(("src/", "include/")) and name.endswith((".cpp", ".h")))
    for folder, count in sorted(folders.items()):
        if count > MAX_FOLDER_SOURCES:
            problems.append(f"{folder}: {count} source files; a folder of more than {MAX_FOLDER_SOURCES} needs folders in it")


def check_decisions(root, names, problems):
    """Every decision has a number of its own and a row in the list."""
    decisions = [pathlib.PurePath(name).name for name in names if re.match(r"docs/decisions/\d{4}-", name)]
    numbers = [decision[:4] for decision in decisions]
    for number in sorted({each for each in numbers if numbers.count(each) > 1}):
        problems.append(f"docs/decisions: two decisions have the number {number}")
    listed = set(re.findall(r"\]\((\d{4}-[^)]+)\)", (root / "docs/decisions/README.md").read_text()))
    for decision in sorted(set(decisions) ^ listed):
        problems.append(f"docs/decisions/README.md: {decision} is " + ("not there" if decision in listed else "not listed"))


def check_named_files(root, problems):
    """The architecture page names only files and folders that exist."""
    for name in re.findall(r"`((?:src|include|tests|cmake)/[\w./-]+)`", (root / "docs/architecture.md").read_text()):
        if not (root / name).exists():
            problems.append(f"docs/architecture.md: there is no {name}")


def folder_arrows(root, names):
    """The includes between folders of one room: {room: {folder: {included folder: an example}}}."""
    arrows = collections.defaultdict(lambda: collections.defaultdict(dict))
    for name in names:
        if not name.startswith("src/") or not name.endswith((".cpp", ".h")):
            continue
        parts = pathlib.PurePath(name).parts
        room, folder = parts[1], "/".join(parts[1:-1])
        for included in re.findall(r'#include "([^"]+)"', (root / name).read_text()):
            if not included.startswith(room + "/"):
                continue
            target = str(pathlib.PurePath(included).parent)
            if target != folder:
                arrows[room][folder].setdefault(target, f"{name} includes {included}")
    return arrows


def check_arrows(root, names, problems):
    """Inside a room, folders that include one another must have an order: a circle has an arrow back up."""
    for room, graph in sorted(folder_arrows(root, names).items()):
        graph = {folder: {t: e for t, e in targets.items() if (folder, t) not in ARROWS_BACK} for folder, targets in graph.items()}
        for start in sorted(graph):
            reached, waiting = set(), list(graph[start])
            while waiting:
                folder = waiting.pop()
                if folder not in reached:
                    reached.add(folder)
                    waiting.extend(graph.get(folder, {}))
            if start in reached:
                examples = [example for target, example in graph[start].items() if start in graph.get(target, {}) or target in reached]
                problems.append(f"src/{start}: is part of a circle of includes inside its room ({examples[0]})")


def check_one_way(root, problems):
    """In these folders, no file includes back what includes it, also over others."""
    for folder in ONE_WAY_FOLDERS:
        graph = collections.defaultdict(set)
        for path in (root / "src" / folder).glob("*.*"):
            graph[path.stem] |= set(re.findall(rf'#include "{folder}/(\w+)\.h"', path.read_text())) - {path.stem}
        for start in sorted(graph):
            reached, waiting = set(), list(graph[start])
            while waiting:
                name = waiting.pop()
                if name not in reached:
                    reached.add(name)
                    waiting.extend(graph.get(name, ()))
            if start in reached:
                problems.append(f"src/{folder}/{start}: is part of a circle of includes inside its folder")


def check_order(root, problems):
    """The tables "folder of ROOM" of the architecture page give the order in which folders may include each other."""
    page = (root / "docs/architecture.md").read_text()
    for room, table in re.findall(r"^\| folder of (\w+) \|.*\n\|[-|]+\n((?:\|.*\n)+)", page, re.M):
        order = re.findall(r"^\| `(\w+)`", table, re.M)
        for path in sorted((root / "src" / room).rglob("*")):
            folder, *rest = path.relative_to(root / "src" / room).parts
            if path.suffix not in {".cpp", ".h"} or not rest:
                continue  # the files beside the folders come after all of them
            for used in re.findall(rf'#include "{room}/(\w+)/', path.read_text()):
                if folder not in order or used not in order or order.index(used) > order.index(folder):
                    problems.append(f"{path.relative_to(root)}: {room}/{folder} may not include {room}/{used}")


def main():
    root = pathlib.Path(sys.argv[1])
    listed = subprocess.run(["git", "-C", root, "ls-files"], capture_output=True, text=True)
    if listed.returncode:
        print("hygiene: not a git checkout, so nothing is looked at")
        return 0
    names = [name for name in listed.stdout.splitlines() if (root / name).exists()]
    problems = []
    for name in names:
        path = root / name
        if path.stat().st_size > MAX_FILE_BYTES:
            problems.append(f"{name}: a file of more than {MAX_FILE_BYTES >> 20} MB; what a build makes is not kept here")
        if path.suffix not in {".cpp", ".h", ".py", ".md", ".cmake", ".txt"} or "golden" in name or "corpus" in name or "samples" in name:
            continue
        check_text(name, path, path.read_text(), problems)
    check_licenses(root, problems)
    check_folders(names, problems)
    check_decisions(root, names, problems)
    check_named_files(root, problems)
    check_arrows(root, names, problems)
    check_one_way(root, problems)
    check_order(root, problems)
    print("\n".join(problems))
    print(f"hygiene: {len(problems)} problems")
    return 1 if problems else 0


sys.exit(main())
