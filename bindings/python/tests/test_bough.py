"""Tests the package as its users see it. Run with BOUGH_LIBRARY set to libbough.so, or in an environment with the
wheel."""

import asyncio
import concurrent.futures
import copy
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import threading
import unittest

import bough
from store_case import StoreCase


class Sessions(StoreCase):
    def test_payloads_come_back_byte_for_byte(self):
        session = self.store.create(title="Test")
        raw = '{"dialect":"anthropic","message":{"role":"user","content":"\\u6728 1.50"},"n":1e400}'
        session.append(bough.NewEntry(raw))
        self.assertEqual(session.history()[0].payload_json, raw)

    def test_texts_of_every_kind_survive(self):
        session = self.store.create()
        texts = ["plain", '"quoted"\\', "東京 🌳", "a\x00b", "line\nline", "x" * 300_000]
        for text in texts:
            session.append(bough.user_text(text))
        self.assertEqual([entry.payload["message"]["content"] for entry in session.history()], texts)

    def test_a_repeated_append_is_a_duplicate(self):
        session = self.store.create()
        entry = bough.user_text("once", id="e-1")
        self.assertEqual(session.append(entry), ("e-1", 1, 0))
        self.assertEqual(session.append(entry), ("e-1", 0, 1))
        with self.assertRaises(bough.IdConflict) as caught:
            session.append(bough.user_text("other", id="e-1"))
        self.assertEqual(caught.exception.batch_place, 1)

    def test_a_wrong_tail_is_a_conflict_that_names_the_tail(self):
        session = self.store.create()
        session.append(bough.user_text("one", id="e-1"))
        with self.assertRaises(bough.Conflict) as caught:
            session.append(bough.user_text("two"), expected_tail="e-0")
        self.assertEqual(caught.exception.tail, "e-1")

    def test_an_append_of_a_turn_that_is_over_is_a_conflict(self):
        session = self.store.create()
        first = session.begin_turn()
        session.append(bough.user_text("one"), turn=first)
        second = session.begin_turn()
        self.assertGreater(second, first)
        with self.assertRaises(bough.Conflict):
            session.append(bough.user_text("late"), turn=first)
        session.append(bough.user_text("two"), turn=second)
        self.assertEqual(len(session.history()), 2)

    def test_two_agents_with_a_lease_see_one_another(self):
        mine, theirs = self.store.create(id="shared"), self.store.session("shared")
        turn = mine.lease_turn(60_000)
        with self.assertRaises(bough.Busy) as caught:
            theirs.lease_turn(60_000)
        self.assertTrue(caught.exception.retryable)
        mine.renew_turn(turn, 60_000)
        mine.append(bough.user_text("one"), turn=turn)
        mine.renew_turn(turn, 0)
        later = asyncio.run(theirs.alease_turn(60_000))
        with self.assertRaises(bough.Conflict):
            mine.append(bough.user_text("late"), turn=turn)
        with self.assertRaises(bough.Conflict):
            mine.renew_turn(turn, 60_000)
        asyncio.run(theirs.arenew_turn(later, 0))
        for wrong in (0, 3_600_001):
            with self.assertRaises(bough.InvalidArgument):
                mine.lease_turn(wrong)
        with self.assertRaises((TypeError, ValueError, OverflowError)):
            mine.lease_turn(-1)

    def test_batches_are_whole_or_nothing(self):
        session = self.store.create()
        with self.assertRaises(bough.InvalidArgument):
            session.append([bough.user_text("good"), bough.NewEntry("no json")])
        self.assertEqual(session.history(), [])

    def test_branches_forks_labels_and_redaction(self):
        session = self.store.create()
        session.append([bough.user_text("ask", id="a"), bough.assistant_text("one", id="b")])
        session.move_head("a")
        session.append(bough.assistant_text("two", id="c"))
        self.assertEqual(sorted(branch["leafId"] for branch in session.branches()), ["b", "c"])
        self.assertEqual(session.diff("b", "c"), {"common": ["a"], "sameEntries": 1, "left": ["b"], "right": ["c"]})
        session.label("b", "first")
        self.assertEqual([label["name"] for label in session.labels()], ["first"])
        session.unlabel("first")
        fork = session.fork("b", title="Fork", cwd="/work")
        self.assertEqual([row["cwd"] for row in self.store.list(title="Fork")], ["/work"])
        self.assertEqual([entry.id for entry in fork.history()], ["a", "b"])
        session.redact("c", by="test", reason="secret")
        self.assertTrue(session.entry("c").redacted)
        self.assertEqual(session.head, "c")
        self.assertEqual([entry["entryId"] for entry in session.tree()["entries"]], ["a", "b", "c"])

    def test_cursors_and_load_give_the_same(self):
        session = self.store.create()
        session.append([bough.user_text(str(number), id=f"e-{number}") for number in range(20)])
        ids = [entry.id for entry in session]
        self.assertEqual(ids[1:], [f"e-{number}" for number in range(20)])
        self.assertEqual([entry.id for entry in session.load(branch="e-19", last=3)], ["e-17", "e-18", "e-19"])
        cursor = session.cursor()
        cursor.next(5)
        self.assertEqual(session.cursor(cursor.position).next(1)[0].id, ids[5])

    def test_context_search_list_usage(self):
        session = self.store.create(title="Trees")
        session.append(bough.user_text("Where do oaks grow?"))
        context = session.context(dialect="gemini")
        self.assertEqual(context["messages"][0]["parts"][0]["text"], "Where do oaks grow?")
        self.assertEqual([row["title"] for row in self.store.list()], ["Trees"])
        self.assertEqual(self.store.list(after=self.store.list()[-1]), [])
        self.assertEqual(len(self.store.search("oaks")), 1)
        session.append(bough.message("anthropic", {"role": "assistant", "model": "claude-sonnet-4-5", "content": "On hills."}, meta={"usage": None}))
        total = self.store.usage(by="model")["total"]
        self.assertEqual((total["inputTokens"], total["messages"], total["withoutUsage"], total["costKnown"]), (0, 1, 1, False))
        with self.assertRaises(bough.InvalidArgument):
            session.context(dialekt="gemini")

    def test_conversion_comes_back(self):
        document = '[{"role":"user","content":"Hello"},{"role":"assistant","content":[{"type":"text","text":"Hi 1.0"}]}]'
        there = bough.convert(document, "anthropic", "openai-chat")
        back = bough.convert(there["document"], "openai-chat", "anthropic", there["wayBack"])
        self.assertEqual(back["document"], document)

    def test_attachments_trash_and_upkeep(self):
        sha256 = self.store.put_attachment(b"a\x00b")
        self.assertEqual(self.store.attachment(sha256), b"a\x00b")
        session = self.store.create()
        session.append(bough.user_text("hi"))
        self.assertEqual(session.verify()["problemCount"], 0)
        trash_id = self.store.trash(session.id)
        self.assertEqual(self.store.session_ids(), [])
        self.store.restore(trash_id)
        self.assertEqual(self.store.session_ids(), [session.id])
        self.store.remove_trashed(self.store.trash(session.id))
        self.assertEqual(self.store.trashed(), [])


    def test_what_is_erased_is_gone_and_a_receipt_is_left(self):
        session = self.store.create()
        session.append([bough.user_text("hunter2", id="a"), bough.user_text("kept", id="b")])
        report = session.erase(["a"], by="test", reason="a password")
        self.assertEqual([entry["entryId"] for entry in report["entries"]], ["a"])
        self.assertNotIn("hunter2", session.load(show_redacted=True)[1].payload_json)
        files = [each.read_bytes() for each in pathlib.Path(self.folder.name).rglob("*") if each.is_file()]
        self.assertFalse(any(b"hunter2" in content for content in files))
        self.assertEqual([entry.id for entry in session.history()], ["a", "b"])
        with self.assertRaises(bough.NotFound):
            session.erase(["nobody"], by="test", reason="none")
        with self.assertRaises(TypeError):
            session.erase("a", by="test", reason="one text is not a list")

    def test_a_batch_is_anything_that_gives_entries(self):
        session = self.store.create()
        self.assertEqual(session.append(bough.user_text(name) for name in "ab").appended, 2)
        for wrong in (5, None, "text", ["text"], {"payload": {}}):
            with self.assertRaisesRegex(TypeError, "a NewEntry is expected"):
                session.append(wrong)
        for wrong in (5, None, b"text", ["text"]):
            with self.assertRaisesRegex(TypeError, "a text is expected"):
                bough.user_text(wrong)

    def test_an_entry_appended_alone_is_what_it_is_in_a_batch(self):
        session = self.store.create()
        session.append(bough.user_text("root", id="root"))
        lengths = [0, 1, 400, 16_384 - 11, 16_384 - 10, 16_384 - 9, 300_000]
        options = [{}, {"id": "%s-id"}, {"meta": {"m": "木"}, "type": "custom"}, {"run_id": "r"}, {"root": True}, {"parent_id": "root"}]
        options += [{"timestamp": "2026-01-02T03:04:05.678Z"}, {"type": "custom"}, {}]
        seen = []
        for length in lengths:
            for number, each in enumerate(options):
                for kind, wrap in (("one", lambda entry: entry), ("batch", lambda entry: [entry])):
                    session.move_head("root")  # so that both have the same parent
                    named = dict(each, id=f"{kind}-{length}-{number}") if "id" in each else each
                    appended = session.append(wrap(bough.NewEntry({"a": "x" * length}, **named)))
                    self.assertEqual(appended[1:], (1, 0))
                    entry = session.entry(appended.last_id)
                    seen.append((entry.parent_id, entry.type, entry.run_id, entry.payload, entry.meta, "timestamp" in each and entry.timestamp))
                self.assertEqual(seen[-2], seen[-1])
            for wrong in ("", "[]", '{"a":"\ud800"}', None):
                with self.assertRaises((bough.InvalidArgument, UnicodeEncodeError)):
                    session.append(bough.NewEntry(wrong))
        self.assertEqual(len(session.load(type="message")), 1 + 2 * len(lengths) * 7)

    def test_threads_append_their_own_entries(self):
        session = self.store.create()

        def work(name):
            for number in range(50):
                last = session.append(bough.user_text(f"{name} {number}")).last_id
                self.assertEqual(session.entry(last).payload["message"]["content"], f"{name} {number}")

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            list(pool.map(work, "abcd"))
        self.assertEqual(len(session.load(type="message")), 200)

    def test_a_message_is_what_a_provider_wrote(self):
        session = self.store.create()
        session.append(bough.message("gemini", '{"role":"user","parts":[{"text":"Eiche 🌳"}]}'.encode(), id="a"))
        self.assertEqual(session.entry("a").payload["message"]["parts"], [{"text": "Eiche 🌳"}])
        with self.assertRaisesRegex(bough.InvalidArgument, "not UTF-8 at byte 12"):
            bough.message("anthropic", b'{"content":"\xff"}')
        with self.assertRaisesRegex(bough.InvalidArgument, "dialect is none of 'anthropic'.*: 'klingon'"):
            bough.message("klingon", "{}")

    def test_forks_detach_and_other_providers(self):
        session = self.store.create()
        session.append(bough.message("anthropic", '{"role":"user","content":"hi"}', id="a"))
        fork = session.fork("a")
        self.assertEqual(session.forks(), [fork.id])
        with self.assertRaises(bough.HasForks):
            self.store.trash(session.id)
        fork.detach()
        self.assertEqual(session.forks(), [])
        self.store.trash(session.id)
        self.assertEqual([entry.id for entry in fork.history()], ["a"])
        other, report = fork.migrate_provider("gemini")
        self.assertEqual(other.history()[-1].payload["dialect"], "gemini")
        self.assertIn("compatible", report)
        self.assertEqual(fork.torn()["fileBytes"], 0)

    def test_unused_attachments_can_be_removed(self):
        unused = self.store.put_attachment(b"nobody names this")
        self.assertEqual(self.store.unused_attachments(), [unused])
        self.assertEqual(self.store.remove_attachments([unused]), 1)
        self.assertEqual(self.store.unused_attachments(), [])

    def test_loading_stops_at_a_size(self):
        session = self.store.create()
        session.append([bough.user_text("x" * 1000, id=f"e-{number}") for number in range(9)])
        self.assertEqual(len(session.load(type="message", limit_bytes=1500)), 2)


class Mistakes(StoreCase):
    def test_every_code_has_an_exception(self):
        from bough import _errors, _library

        names = {_library.library.bough_code_name(code).decode() for code in range(1, 200)} - {"unknown", "no_memory"}
        self.assertEqual({name for name in names if _errors.error_class(name) is bough.BoughError}, set())
        self.assertTrue(all(hasattr(bough, _errors.error_class(name).__name__) for name in names))

    def test_an_empty_location_is_refused(self):
        with self.assertRaisesRegex(bough.InvalidArgument, "the location is empty"):
            bough.Store("")

    def test_numbers_and_words_out_of_range_are_refused(self):
        session = self.store.create()
        for options in ({"last": -1}, {"limit": -1}, {"start": -1}, {"limit": 1 << 64}):
            with self.assertRaises(bough.InvalidArgument):
                session.load(**options)
        for options in ({"last": 1.5}, {"limit": "3"}, {"branch": 7}):
            with self.assertRaises(TypeError):
                session.load(**options)
        with self.assertRaises(bough.InvalidArgument):
            session.append(bough.user_text("x"), durability="maybe")
        with self.assertRaises(bough.InvalidArgument):
            bough.Store(self.folder.name, durability="maybe")
        with self.assertRaises(bough.InvalidArgument):
            bough.Store(self.folder.name, lock_timeout_ms=1 << 31)
        with self.assertRaises(bough.InvalidArgument):
            session.cursor().next(-1)
        with self.assertRaises(TypeError):
            session.append("not an entry")
        with self.assertRaises(TypeError):
            bough.message("anthropic", None)
        unused = self.store.put_attachment(b"unused")
        with self.assertRaises(bough.InvalidArgument):
            self.store.remove_attachments([unused, "x"])
        self.assertEqual(self.store.unused_attachments(), [unused])

    def test_what_was_closed_says_so(self):
        session = self.store.create()
        handle = session._handle
        session.close()
        with self.assertRaises(bough.Closed) as closed:
            session.state()
        self.assertEqual(closed.exception.code, "closed")
        session._handle = handle  # as seen by a thread that started before another thread closed it
        with self.assertRaises(bough.Closed) as closed:
            session.append(bough.user_text("x"))
        self.assertEqual(closed.exception.code, "closed")
        session._handle = None
        self.store.close()
        self.store.close()
        with self.assertRaises(bough.Closed):
            self.store.create()

    def test_two_threads_may_close_a_store(self):
        handle = self.store._handle
        self.store.close()
        self.store._handle = handle  # as seen by a thread that started before another thread closed it
        self.store.close()
        with self.assertRaises(bough.Closed):
            self.store.create()

    def test_handles_cannot_be_copied(self):
        """A copy would close the original's handle, and in another process the number would name something else."""
        session = self.store.create()
        for each in (self.store, session, session.cursor(), session.follow()):
            for copied in (copy.copy, copy.deepcopy, pickle.dumps):
                with self.assertRaises(TypeError):
                    copied(each)
        session.append(bough.user_text("hi"))

    def test_buffers_are_taken_as_they_are_at_the_call(self):
        session = self.store.create()
        data = bytearray(b'{"a":1}')
        for payload in (data, memoryview(data), memoryview(b"x{x}x")[1::2]):
            session.append(bough.NewEntry(payload, meta=data))
        data[5:6] = b"2"
        self.assertEqual([entry.payload_json for entry in session.history()], ['{"a":1}', '{"a":1}', "{}"])
        with self.assertRaises(TypeError):
            self.store.put_attachment(None)
        digest = self.store.put_attachment(memoryview(b"abcdef")[::2])
        self.assertEqual(self.store.attachment(digest), b"ace")
        self.assertEqual(self.store.put_attachment(bytearray(b"ace")), digest)
        with self.assertRaises(bough.InvalidArgument):
            session.append(bough.NewEntry(bytearray(b'{"a":"\xff"}')))

    def test_bad_input_is_refused(self):
        with self.assertRaises(bough.NotFound):
            self.store.session("nobody")
        with self.assertRaises(bough.InvalidArgument):
            self.store.session("../etc")
        with self.assertRaises(bough.InvalidArgument):
            self.store.create(id="a\x00b")
        with self.assertRaises(bough.InvalidArgument):
            bough.Store("a\x00b")
        with self.assertRaises(UnicodeEncodeError):
            self.store.create(title="\ud800")
        with self.assertRaises(bough.InvalidArgument):
            self.store.create().append(bough.NewEntry('{"a":1,}'))


class Processes(StoreCase):
    def test_a_child_goes_on_while_threads_of_the_parent_wait(self):
        session = self.store.create()
        session.append(bough.user_text("before", id="a"))
        self.store.list()
        follower = session.follow(position="a")
        waiting = threading.Thread(target=follower.next)
        waiting.start()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                session.append(bough.user_text("child", id="b"))
                fresh = session.follow(position="a")
                try:
                    follower.next(10)
                except bough.InvalidArgument:  # a thread of the parent was using it during the fork
                    pass
                code = 0 if fresh.next(10)[0].id == "b" and len(self.store.list()) == 1 else 2
            finally:
                os._exit(code)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        waiting.join()
        follower.close()

    def test_a_child_lists_while_threads_of_the_parent_list(self):
        self.store.create().append(bough.user_text("hi"))
        ended = threading.Event()

        def work():
            while not ended.is_set():
                self.store.list(limit=1)

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(40):
                child = os.fork()
                if child == 0:
                    signal.alarm(60)  # a child that hangs is killed
                    os._exit(0 if len(self.store.list()) == 1 else 1)
                self.assertEqual(os.waitpid(child, 0)[1], 0)
        finally:
            ended.set()
            for thread in threads:
                thread.join()

    def test_parent_and_child_of_a_fork_both_append(self):
        session = self.store.create()
        session.append(bough.user_text("before"))
        child = os.fork()
        if child == 0:
            code = 1
            try:
                for _ in range(50):
                    session.append(bough.user_text("child"))
                code = 0
            finally:
                os._exit(code)
        for _ in range(50):
            session.append(bough.user_text("parent"))
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        texts = [entry.payload["message"]["content"] for entry in session.load(type="message")]
        self.assertEqual((texts.count("parent"), texts.count("child")), (50, 50))
        self.assertEqual(session.verify()["problemCount"], 0)


class Interpreter(unittest.TestCase):
    def test_control_c_ends_a_wait(self):
        program = """if True:
            import bough, signal
            signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have it ignored
            session = bough.Store("memory:").create()
            print("ready", flush=True)
            try:
                for entry in session.follow():
                    print(entry.type, flush=True)
            except KeyboardInterrupt:
                print("interrupted")
        """
        environment = dict(os.environ, PYTHONPATH=str(pathlib.Path(bough.__file__).parent.parent))
        with subprocess.Popen([sys.executable, "-c", program], env=environment, stdout=subprocess.PIPE, text=True) as process:
            self.assertEqual([process.stdout.readline() for _ in range(2)], ["ready\n", "session_header\n"])
            process.send_signal(signal.SIGINT)
            try:
                self.assertEqual(process.communicate(timeout=120)[0], "interrupted\n")
            finally:
                process.kill()

    def test_a_library_that_is_missing_or_another_one_is_told(self):
        package = pathlib.Path(bough.__file__).parent.parent
        for library, told in (("/nowhere/libbough.so", "BOUGH_LIBRARY"), ("libc.so.6", "ImportError: libc.so.6 is not a library that this package can use")):
            environment = dict(os.environ, BOUGH_LIBRARY=library, PYTHONPATH=str(package))
            done = subprocess.run([sys.executable, "-c", "import bough"], env=environment, capture_output=True, text=True)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(told, done.stderr)


if __name__ == "__main__":
    unittest.main()
