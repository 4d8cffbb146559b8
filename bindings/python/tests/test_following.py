"""Tests followers, loops over readers, and calls that do not block the event loop."""

import asyncio
import gc
import logging
import pathlib
import threading
import time
import unittest
import unittest.mock

import bough
from store_case import StoreCase


class Following(StoreCase):
    def test_a_follower_gets_what_others_append(self):
        session = self.store.create()
        with session.follow() as follower:
            self.assertEqual([entry.type for entry in follower.next(5)], ["session_header"])
            other = threading.Timer(0.05, lambda: session.append(bough.user_text("hi", id="e-1")))
            other.start()
            self.assertEqual([entry.id for entry in follower.next(30)], ["e-1"])
            other.join()

    def test_stop_ends_a_wait(self):
        follower = self.store.create().follow()
        follower.next(5)
        threading.Timer(0.05, follower.stop).start()
        self.assertEqual(follower.next(), [])
        follower.close()

    def test_two_threads_may_close_a_follower(self):
        follower = self.store.create().follow()
        handle = follower._handle
        follower.close()
        follower._handle = handle  # as seen by a thread that started before another thread closed it
        follower.stop()
        follower.close()

    def test_what_a_loop_leaves_goes_to_one_that_waits_on_another_thread(self):
        session = self.store.create()
        with session.follow(session.append(bough.user_text("zero")).last_id) as follower:
            given, waiting = [], threading.Barrier(3)

            def take_one():
                waiting.wait()
                for entry in follower:
                    given.append(entry.id)
                    break

            threads = [threading.Thread(target=take_one, daemon=True) for _ in range(2)]
            for thread in threads:
                thread.start()
            waiting.wait()
            while follower._intake._read is None:
                pass
            session.append([bough.NewEntry({}, id="a"), bough.NewEntry({}, id="b")])
            for thread in threads:
                thread.join(20)
            self.assertEqual(sorted(given), ["a", "b"])

    def test_calls_on_two_threads_share_what_comes(self):
        session = self.store.create()
        with session.follow(session.append(bough.user_text("zero")).last_id) as follower:
            given: "list[str]" = []

            def take_all(timeout):
                while not follower._stopped:
                    given.extend(entry.id for entry in follower.next(timeout))
                    if len(given) == 100:
                        follower.stop()

            threads = [threading.Thread(target=take_all, args=(timeout,), daemon=True) for timeout in (None, 0.001, None)]
            for thread in threads:
                thread.start()
            ids = [session.append(bough.user_text("x")).last_id for _ in range(100)]
            for thread in threads:
                thread.join(20)
            self.assertEqual(sorted(given), sorted(ids))

    def test_a_loop_that_is_left_loses_nothing(self):
        session = self.store.create()
        session.append([bough.user_text(name, id=name) for name in "abcdefg"])
        header = session.cursor().next(1)[0].id

        async def first(reader):
            async for entry in reader:
                return entry.id

        for reader in (session.cursor(position=header), session.follow(position=header)):
            for entry in reader:
                break
            self.assertEqual((entry.id, reader.position), ("a", "a"))
            self.assertEqual(next(iter(reader)).id, "b")
            self.assertEqual(asyncio.run(first(reader)), "c")
            self.assertEqual(reader.position, "c")
            part = reader.next(2) if isinstance(reader, bough.Cursor) else reader.next()
            self.assertEqual(part[0].id, "d")
            self.assertEqual(reader.position, part[-1].id)
            reader.close()

    def test_a_loop_goes_on_after_its_task_was_cancelled(self):
        async def main():
            session = self.store.create()
            follower = session.follow(position=session.cursor().next(1)[0].id)

            async def first():
                async for entry in follower:
                    return entry.id

            for name in ("a", "b"):
                with self.assertRaises(asyncio.TimeoutError):
                    await asyncio.wait_for(first(), 0.05)
                session.append(bough.user_text(name, id=name))
                self.assertEqual(await asyncio.wait_for(first(), 30), name)
            follower.close()

        asyncio.run(main())

    def test_a_wait_that_was_given_up_loses_nothing(self):
        async def main():
            session = self.store.create()
            session.append(bough.user_text("before", id="a"))
            follower = session.follow(position="a")
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(follower.anext(), 0.05)
            self.assertEqual(follower.position, "a")
            session.append(bough.user_text("one", id="b"))
            self.assertEqual([entry.id for entry in await follower.anext()], ["b"])
            cancelled = asyncio.create_task(follower.anext())
            await asyncio.sleep(0.05)
            cancelled.cancel()
            session.append(bough.user_text("two", id="c"))
            self.assertEqual([entry.id for entry in follower.next(30)], ["c"])
            self.assertEqual(await follower.anext(0.01), [])
            session.append(bough.user_text("three", id="d"))
            self.assertEqual([entry.id for entry in await follower.anext(30)], ["d"])
            self.assertEqual(follower.position, "d")
            cursor = session.cursor()
            reading = asyncio.create_task(cursor.anext(2))
            await asyncio.sleep(0)
            reading.cancel()
            self.assertEqual([entry.id async for entry in cursor][-4:], ["a", "b", "c", "d"])

        asyncio.run(main())  # ends, although a follower that was not closed is waiting

    def test_many_followers_leave_room_for_other_calls(self):
        async def main():
            session = self.store.create()
            followers = [session.follow(position=session.tail) for _ in range(40)]
            waiting = [asyncio.create_task(follower.anext()) for follower in followers]
            await asyncio.sleep(0.05)
            await asyncio.wait_for(session.aappend(bough.user_text("hi", id="e")), 60)
            for part in await asyncio.gather(*waiting):
                self.assertEqual([entry.id for entry in part], ["e"])

        asyncio.run(main())

    def test_closing_the_store_ends_waits_and_reads(self):
        session = self.store.create()
        follower, cursor = session.follow(position=session.tail), session.cursor()
        threading.Timer(0.05, self.store.close).start()
        for read in (follower.next, cursor.next, session.load, lambda: follower.next(0)):
            with self.assertRaises(bough.Closed):
                read()

    def test_a_reader_keeps_its_store_open(self):
        location = pathlib.Path(self.folder.name) / "store"
        session = self.store.create(id="kept")
        session.append([bough.user_text(name, id=name) for name in "abc"])

        async def first():
            async for entry in await bough.Store(location).session("kept").afollow(position="a"):
                return entry.id

        self.assertEqual([entry.id for entry in bough.Store(location).session("kept")][1:], ["a", "b", "c"])
        self.assertEqual(bough.Store(location).session("kept").cursor(position="a").next(1)[0].id, "b")
        self.assertEqual(bough.Store(location).session("kept").follow(position="a").next(30)[0].id, "b")
        self.assertEqual(asyncio.run(first()), "b")

    def test_a_read_that_fails_is_told_once(self):
        """Only by its exception: nothing else is logged, even when the event loop has ended meanwhile."""
        told = []

        async def main():
            asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))
            session = self.store.create()
            waiting = asyncio.create_task(session.follow(position=session.tail).anext())
            given_up = asyncio.create_task(session.follow(position=session.tail).anext())
            await asyncio.sleep(0.05)
            given_up.cancel()
            await self.store.aclose()
            with self.assertRaises(bough.Closed):
                await waiting
            del waiting
            gc.collect()
            await asyncio.sleep(0.05)

        async def leave(follower):
            asyncio.create_task(follower.anext())
            await asyncio.sleep(0.05)

        with self.assertLogs() as logs:
            logging.warning("so that there is one")
            asyncio.run(main())
            store = bough.Store("memory:")
            session = store.create()
            follower = session.follow(position=session.tail)
            asyncio.run(leave(follower))
            last = session.append(bough.user_text("hi")).last_id
            self.assertEqual(follower.next(30)[0].id, last)
        self.assertEqual((told, len(logs.output)), ([], 1), logs.output)

    def test_a_wait_goes_on_after_no_thread_could_be_started(self):
        session = self.store.create()
        follower = session.follow()
        with unittest.mock.patch("_thread.start_new_thread", side_effect=RuntimeError("can't start new thread")):
            with self.assertRaises(RuntimeError):
                follower.next(30)
        self.assertEqual([entry.type for entry in follower.next(30)], ["session_header"])

    def test_a_follower_that_nobody_names_ends_its_wait(self):
        session = self.store.create()
        follower = session.follow(position=session.tail)
        intake = follower._intake

        async def give_up(wait):
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(wait, 0.05)

        asyncio.run(give_up(follower.anext()))
        self.assertIsNotNone(intake._read)
        del follower
        gc.collect()
        end = time.monotonic() + 60
        while intake._read is not None and time.monotonic() < end:
            time.sleep(0.001)
        self.assertIsNone(intake._read, "the wait goes on although nobody names the follower")

    def test_a_wait_may_be_endless(self):
        session = self.store.create()
        self.assertEqual(session.follow().next(float("inf"))[0].type, "session_header")

    def test_a_part_of_no_entries_is_refused(self):
        with self.assertRaises(bough.InvalidArgument):
            self.store.create().cursor().next(0)

    def test_async_calls_do_not_block_the_loop(self):
        async def main():
            session = self.store.create()
            ticks = 0

            async def tick():
                nonlocal ticks
                while True:
                    ticks += 1
                    await asyncio.sleep(0)

            ticking = asyncio.create_task(tick())
            await asyncio.gather(*(session.aappend(bough.user_text(str(number))) for number in range(20)))
            self.assertEqual(len(await session.aload(type="message")), 20)
            ticking.cancel()
            self.assertGreater(ticks, 0)
            seen = []
            async for entry in session.follow():
                seen.append(entry)
                if len(seen) == 21:
                    break

        asyncio.run(main())

    def test_every_call_that_touches_the_disk_has_an_async_twin(self):
        for kind in (bough.Store, bough.Session, bough.Cursor, bough.Follower):
            names = {name for name in vars(kind) if not name.startswith("_") and callable(getattr(kind, name))}
            calls = {name for name in names if not asyncio.iscoroutinefunction(getattr(kind, name))}
            self.assertEqual(calls - {name[1:] for name in names - calls} - {"close", "stop"}, set(), kind)

    def test_a_program_of_async_calls(self):
        async def main():
            async with await bough.Store.aopen(pathlib.Path(self.folder.name) / "store") as store:
                session = await store.acreate(title="Async")
                await session.aappend(bough.user_text("hi", id="a"))
                self.assertEqual([entry.id async for entry in session][-1], "a")
                self.assertEqual([row["title"] for row in await store.alist()], ["Async"])
                follower = await session.afollow(position="a")

                async def first():
                    async for entry in follower:
                        return entry.id

                waiting = asyncio.create_task(first())
                await session.aappend(bough.user_text("there", id="b"))
                self.assertEqual(await waiting, "b")
                follower.close()
                cancelled = await session.afollow(position="b")
                endless = asyncio.create_task(cancelled.anext())
                await asyncio.sleep(0.01)
                endless.cancel()
                cancelled.close()

        asyncio.run(main())


if __name__ == "__main__":
    unittest.main()
