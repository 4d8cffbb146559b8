"""Tests the adapters with stand-ins for the base classes of their frameworks."""

import asyncio
import json
import os
import signal
import sys
import threading
import types
import unittest.mock

import bough
from store_case import StoreCase


class Typed:
    """Does what a serializer of LangGraph does: returns a type and bytes."""

    @staticmethod
    def dumps_typed(value):
        return "json", json.dumps(value).encode()

    @staticmethod
    def loads_typed(typed):
        return json.loads(typed[1])


def stand_ins():
    """Makes modules with the frameworks' published names, because the frameworks are not installed."""
    base = types.ModuleType("langgraph.checkpoint.base")

    class BaseCheckpointSaver:
        def __init__(self, *, serde=None):
            self.serde = serde or Typed()

    class CheckpointTuple(tuple):
        config = property(lambda self: self[0])
        checkpoint = property(lambda self: self[1])
        metadata = property(lambda self: self[2])
        parent_config = property(lambda self: self[3])
        pending_writes = property(lambda self: self[4])

        def __new__(cls, *values):
            return super().__new__(cls, values)

    base.BaseCheckpointSaver = BaseCheckpointSaver
    base.CheckpointTuple = CheckpointTuple
    base.WRITES_IDX_MAP = {"__error__": -1, "__interrupt__": -3}
    base.get_checkpoint_id = lambda config: config["configurable"].get("checkpoint_id")
    base.get_checkpoint_metadata = lambda config, metadata: {**config.get("metadata", {}), **metadata}
    session = types.ModuleType("agents.memory.session")
    session.SessionABC = type("SessionABC", (), {})
    modules = {"langgraph.checkpoint.base": base, "agents.memory.session": session}
    for name in ("langgraph", "langgraph.checkpoint", "agents", "agents.memory"):
        modules[name] = types.ModuleType(name)
    for name, module in modules.items():
        sys.modules.setdefault(name, module)


class Adapters(StoreCase):
    @classmethod
    def setUpClass(cls):
        stand_ins()

    @staticmethod
    def checkpoint(identifier, values, versions):
        return {"v": 4, "id": identifier, "ts": "", "channel_values": values, "channel_versions": versions, "versions_seen": {}}

    def test_langgraph_keeps_threads_apart_and_values_whole(self):
        from bough.langgraph import BoughSaver

        saver = BoughSaver(self.store)
        config = {"configurable": {"thread_id": "th/read: 木\n" + "x" * 200, "checkpoint_ns": ""}}
        first = self.checkpoint("1", {"messages": ["a"], "other": 1}, {"messages": 1, "other": 1})
        one = saver.put(config, first, {"step": 0}, {"messages": 1, "other": 1})
        second = self.checkpoint("2", {"messages": ["a", "b"], "other": 1}, {"messages": 2, "other": 1})
        two = saver.put(one, second, {"step": 1}, {"messages": 2})
        saver.put_writes(two, [("messages", "c"), ("__error__", "first")], "task")
        saver.put_writes(two, [("messages", "again"), ("__error__", "second")], "task")
        fresh = BoughSaver(self.store)
        found = fresh.get_tuple(config)
        self.assertEqual(found.checkpoint["channel_values"], {"messages": ["a", "b"], "other": 1})
        self.assertEqual(found.parent_config["configurable"]["checkpoint_id"], "1")
        self.assertEqual(sorted(write[2] for write in found.pending_writes), ["c", "second"])
        self.assertEqual([each.metadata["step"] for each in fresh.list(None)], [1, 0])
        self.assertEqual([each.metadata["step"] for each in fresh.list(config, filter={"step": 0})], [0])
        fresh.delete_thread(config["configurable"]["thread_id"])
        self.assertIsNone(BoughSaver(self.store).get_tuple(config))

    def test_langgraph_takes_the_same_space_for_each_turn(self):
        from bough.langgraph import BoughSaver

        saver = BoughSaver(self.store)
        config = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
        messages, sizes = [], []
        for turn in range(60):
            messages.append("ask 木 🌳 %04d " % turn * 20)
            versions = {"messages": turn + 1}
            config = saver.put(config, self.checkpoint("%04d" % turn, {"messages": messages}, versions), {"step": turn}, versions)
            sizes.append(self.store.session("langgraph-t").state()["bytes"])
        self.assertLess(sizes[-1] - sizes[-2], 1.1 * (sizes[10] - sizes[9]))
        fresh = BoughSaver(self.store)
        for turn in (59, 30, 0, 58):
            at = {"configurable": {"thread_id": "t", "checkpoint_ns": "", "checkpoint_id": "%04d" % turn}}
            self.assertEqual(fresh.get_tuple(at).checkpoint["channel_values"]["messages"], messages[: turn + 1])

    def test_langgraph_copies_of_checkpoints_have_their_values(self):
        from bough.langgraph import BoughSaver

        saver, long = BoughSaver(self.store), "x" * 200
        config = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
        root = saver.put(config, self.checkpoint("1", {"words": "a"}, {"words": 1}), {}, {"words": 1})
        saver.put(root, self.checkpoint("2", {"words": "left " + long}, {"words": 2}), {}, {"words": 2})
        saver.put(root, self.checkpoint("3", {"words": "right " + long}, {"words": 2}), {}, {"words": 2})
        # Like LangGraph's update_state with "__copy__": no new versions, and the parent of the copied checkpoint.
        saver.put(root, self.checkpoint("4", {"words": "right " + long}, {"words": 2}), {}, {})
        saver.put(config, self.checkpoint("5", {"words": "a"}, {"words": 1}), {}, {})
        found = {each.checkpoint["id"]: each.checkpoint["channel_values"] for each in BoughSaver(self.store).list(None)}
        self.assertEqual([found["4"], found["5"]], [{"words": "right " + long}, {"words": "a"}])

    def test_langgraph_lists_with_settings_that_are_none(self):
        from bough.langgraph import BoughSaver

        saver = BoughSaver(self.store)
        for ns in ("", "inner"):
            saver.put({"configurable": {"thread_id": "t", "checkpoint_ns": ns}}, self.checkpoint("1", {}, {}), {}, {})
        settings = {"thread_id": "t", "checkpoint_ns": None, "checkpoint_id": None}
        self.assertEqual(len([*saver.list({"configurable": settings})]), 2)

    def test_langgraph_values_that_differ_in_the_middle_of_a_character(self):
        from bough.langgraph import BoughSaver

        saver = BoughSaver(self.store)
        config = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
        long = "x" * 200
        values = [long + "🌳" + long, long + "🌴" + long, long + long, "y" + long, long, long + long]
        for turn, value in enumerate(values):
            versions = {"messages": turn + 1}
            config = saver.put(config, self.checkpoint(str(turn), {"messages": value}, versions), {}, versions)
        found = {each.checkpoint["id"]: each.checkpoint["channel_values"]["messages"] for each in BoughSaver(self.store).list(None)}
        self.assertEqual([found[str(turn)] for turn in range(len(values))], values)

    def test_langgraph_calls_from_many_threads_lose_nothing(self):
        import bough.langgraph

        saver = bough.langgraph.BoughSaver(self.store)
        bough.langgraph._THREADS, kept = 2, bough.langgraph._THREADS

        async def main():
            puts = []
            for number in range(40):
                config = {"configurable": {"thread_id": f"t{number % 4}", "checkpoint_ns": ""}}
                checkpoint = self.checkpoint("%02d" % number, {"messages": [number]}, {"messages": 1})
                puts.append(saver.aput(config, checkpoint, {"step": number}, {"messages": 1}))
            await asyncio.gather(*puts)
            return [each.metadata["step"] async for each in saver.alist(None)]

        self.assertEqual(sorted(asyncio.run(main())), list(range(40)))
        self.assertEqual(len(saver._threads), 2)
        bough.langgraph._THREADS = kept

    def test_langgraph_finds_what_older_checkpoints_sent_to_tasks(self):
        from bough.langgraph import BoughSaver

        for version, expected in ((1, ["to b", "to a"]), (4, None)):
            with BoughSaver(self.store) as saver:
                config = {"configurable": {"thread_id": f"t{version}", "checkpoint_ns": ""}}
                first = {**self.checkpoint("1", {"x": 1}, {"x": 1}), "v": version}
                config = saver.put(config, first, {}, {"x": 1})
                saver.put_writes(config, [("x", 2), ("__pregel_tasks", "to b"), ("__pregel_tasks", "to a")], "task")
                second = {**self.checkpoint("2", {"x": 2}, {"x": 7}), "v": version}
                found = saver.get_tuple(saver.put(config, second, {}, {"x": 7})).checkpoint
                self.assertEqual(found["channel_values"].get("__pregel_tasks"), expected)
                self.assertEqual(found["channel_versions"].get("__pregel_tasks"), 7 if expected else None)

    def test_langgraph_reads_a_checkpoint_when_it_is_asked_for(self):
        from bough.langgraph import BoughSaver

        async def main(saver):
            for number in range(5):
                checkpoint = self.checkpoint(str(number), {"messages": [number]}, {"messages": 1})
                await saver.aput({"configurable": {"thread_id": "t", "checkpoint_ns": ""}}, checkpoint, {"step": number}, {"messages": 1})
            read, made = [], saver._tuple
            saver._tuple = lambda *given: read.append(1) or made(*given)
            async for found in saver.alist({"configurable": {"thread_id": "t"}}):
                return found.metadata["step"], len(read)

        with BoughSaver(self.store) as saver:
            self.assertEqual(asyncio.run(main(saver)), (4, 1))

    def test_langgraph_metadata_holds_that_of_the_config(self):
        from bough.langgraph import BoughSaver

        with BoughSaver(self.store) as saver:
            config = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}, "metadata": {"user": "u"}}
            saver.put(config, self.checkpoint("1", {}, {}), {"step": 0}, {})
            self.assertEqual([each.metadata for each in saver.list(config, filter={"user": "u"})], [{"user": "u", "step": 0}])

    def test_langgraph_a_thread_that_another_process_deleted_begins_again(self):
        from bough.langgraph import BoughSaver

        left, right = BoughSaver(self.store), BoughSaver(self.store)
        config = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}

        def put(saver, identifier):
            saver.put(config, self.checkpoint(identifier, {"messages": [identifier]}, {"messages": 1}), {}, {"messages": 1})

        put(left, "1")
        right.delete_thread("t")
        self.assertIsNone(left.get_tuple(config))
        put(left, "2")
        right.delete_thread("t")
        put(right, "1")
        self.assertEqual(left.get_tuple(config).checkpoint["channel_values"], {"messages": ["1"]})
        right.delete_thread("t")
        put(left, "3")
        self.assertEqual([each.checkpoint["id"] for each in right.list(config)], ["3"])

    def test_langgraph_a_thread_that_is_deleted_while_it_is_written_begins_again(self):
        from bough import langgraph

        saver, other = langgraph.BoughSaver(self.store), langgraph.BoughSaver(self.store)
        config = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
        long = "the same beginning " * 20
        between = []  # what another writer does after the thread was read and before the append
        refresh = langgraph._Thread.refresh

        def refreshed(thread):
            refresh(thread)
            if between:
                between.pop()()

        def put(saver, number):
            checkpoint = self.checkpoint(str(number), {"a": long + str(number)}, {"a": number})
            return saver.put(config, checkpoint, {"step": number}, {"a": number})

        def begun_again():
            other.delete_thread("t")
            put(other, 9)

        langgraph._Thread.refresh = refreshed
        try:
            for delete in (lambda: other.delete_thread("t"), begun_again):
                at = put(saver, 1)
                between.append(delete)
                next_one = saver.put(at, self.checkpoint("2", {"a": long + "2"}, {"a": 2}), {"step": 2}, {"a": 2})
                between.append(delete)
                saver.put_writes(next_one, [("a", 1)], "task")
                at = saver.put(next_one, self.checkpoint("3", {"a": long + "3"}, {"a": 3}), {"step": 3}, {"a": 3})
                self.assertEqual(langgraph.BoughSaver(self.store).get_tuple(at).checkpoint["channel_values"], {"a": long + "3"})
        finally:
            langgraph._Thread.refresh = refresh

    def test_langgraph_a_value_whose_beginning_was_redacted_is_refused_and_the_thread_goes_on(self):
        from bough.langgraph import BoughSaver

        def put(config, identifier, count):
            words = [str(number).ljust(100, "x") for number in range(count)]
            return saver.put(config, self.checkpoint(identifier, {"words": words}, {"words": count}), {}, {"words": count})

        saver = BoughSaver(self.store)
        first = put({"configurable": {"thread_id": "t", "checkpoint_ns": ""}}, "1", 1)
        second = put(first, "2", 2)
        session = self.store.session("langgraph-t")
        session.redact(session.load()[1].id, by="test", reason="secret")
        saver = BoughSaver(self.store)
        self.assertIsNone(saver.get_tuple(first))
        with self.assertRaisesRegex(bough.NotFound, "redacted, erased or damaged"):
            saver.get_tuple(second)
        third = put(second, "3", 3)
        self.assertEqual(len(BoughSaver(self.store).get_tuple(third).checkpoint["channel_values"]["words"]), 3)

    def test_langgraph_a_read_that_ctrl_c_ended_leaves_nothing_out(self):
        from bough import langgraph

        saver = langgraph.BoughSaver(self.store)
        config = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
        for number in "123":
            config = saver.put(config, self.checkpoint(number, {"n": number}, {"n": int(number)}), {}, {"n": int(number)})
        for known in (False, True):
            reader = langgraph.BoughSaver(self.store)
            if known:
                reader.get_tuple(config)
                saver.put(config, self.checkpoint("4", {"n": "4"}, {"n": 4}), {}, {"n": 4})
            take = langgraph._Thread._take

            def take_and_end(*arguments):
                take(*arguments)
                raise KeyboardInterrupt

            with unittest.mock.patch.object(langgraph._Thread, "_take", take_and_end):
                with self.assertRaises(KeyboardInterrupt):
                    reader.get_tuple(config)
            found = [each.checkpoint["channel_values"]["n"] for each in reader.list({"configurable": {"thread_id": "t"}})]
            self.assertEqual(found, ["4", "3", "2", "1"][not known :])

    def test_langgraph_in_the_child_of_a_fork_at_any_moment(self):
        from bough.langgraph import BoughSaver

        saver = BoughSaver(self.store)
        config = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
        saver.put(config, self.checkpoint("1", {"a": 1}, {"a": 1}), {}, {"a": 1})
        ended = threading.Event()

        def read_on():
            while not ended.is_set():
                saver.get_tuple(config)

        readers = [threading.Thread(target=read_on) for _ in range(2)]
        for reader in readers:
            reader.start()
        try:
            for _ in range(10):
                child = os.fork()
                if child == 0:
                    signal.alarm(20)  # kills a child that waits for a thread of its parent
                    os._exit(0 if saver.get_tuple(config) else 1)
                self.assertEqual(os.waitpid(child, 0)[1], 0)
        finally:
            ended.set()
            for reader in readers:
                reader.join()

    def test_openai_agents_reading_makes_no_session_and_one_that_was_removed_begins_again(self):
        from bough.openai_agents import BoughSession

        async def main():
            session = BoughSession("s", self.store)
            self.assertEqual(await session.get_items(), [])
            self.assertIsNone(await session.pop_item())
            await session.clear_session()
            self.assertEqual(self.store.session_ids(), [])
            await session.add_items([{"role": "user", "content": "hello"}])
            self.store.remove_trashed(self.store.trash("openai-agents-s"))
            self.assertEqual(await session.get_items(), [])
            odd = [{"role": "user", "content": [{"type": "x", "text": None}, {"text": 3}, "text", None]}, {"content": None}, {}]
            await session.add_items(odd)
            self.assertEqual(await session.get_items(), odd)

        asyncio.run(main())

    def test_openai_agents_takes_the_limit_of_its_settings(self):
        from bough.openai_agents import BoughSession

        async def main():
            with BoughSession("s", self.store, session_settings=types.SimpleNamespace(limit=1)) as session:
                await session.add_items([{"role": "user", "content": str(number)} for number in range(3)])
                self.assertEqual([item["content"] for item in await session.get_items()], ["2"])
                self.assertEqual(len(await session.get_items(2)), 2)

        asyncio.run(main())

    def test_openai_agents_pop_and_clear_keep_branches(self):
        from bough.openai_agents import BoughSession

        async def main():
            session = BoughSession("any / name 木", self.store)
            items = [{"role": "user", "content": str(number)} for number in range(3)]
            await session.add_items(items)
            self.assertEqual(await session.get_items(2), items[1:])
            self.assertEqual(await session.pop_item(), items[2])
            await session.add_items([{"role": "user", "content": "instead"}])
            again = BoughSession("any / name 木", self.store)
            self.assertEqual([item["content"] for item in await again.get_items()], ["0", "1", "instead"])
            await session.clear_session()
            self.assertEqual(await again.get_items(), [])
            self.assertIsNone(await session.pop_item())

        asyncio.run(main())

    def test_names_are_encoded_reversibly(self):
        from bough._foreign_key import name_of, names_of, open_named, session_id_of

        names = ("plain", "", "a_b", "_61", "../..", "木" * 60, "a" * 500, "\x00", "_h" + "0" * 64, "\ud800", "\ud800" * 90, "\ufffd", "name")
        for name in names:
            session = open_named(self.store, "test-", name, create=True)
            self.assertEqual(name_of(self.store, "test-", session.id), name)
        self.assertEqual(sorted(names_of(self.store, "test-")), sorted(names))
        # One store serves both, as in Node.
        self.assertEqual(session_id_of("p-", "a/b 木"), "p-a_2fb_20_e6_9c_a8")
        for wrong in (None, 5, b"bytes"):
            with self.assertRaisesRegex(TypeError, "the name of a session is a text"):
                session_id_of("p-", wrong)
        self.assertEqual(session_id_of("p-", "\ud800x"), "p-_ed_a0_80x")
        self.assertEqual(session_id_of("p-", "x" * 500), "p-_hc38c2bf3055c516a98ac5d97f30e7c364e827bc0199e1c3415b794afbe55dcad")

    def test_a_session_that_was_killed_before_it_had_its_name_gets_it(self):
        from bough._foreign_key import names_of, open_named, session_id_of

        self.store.create(id=session_id_of("test-", "x" * 500)).close()
        self.store.create(id="test-_zz").close()  # not an encoded name
        self.assertEqual(names_of(self.store, "test-"), [])
        open_named(self.store, "test-", "x" * 500)
        self.assertEqual(names_of(self.store, "test-"), ["x" * 500])
