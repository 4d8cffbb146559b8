// The fixtures that are converted for the real agents, and the history that each agent must then send. `thoughts` are
// texts of reasoning, which pi sends as words when they are from another model. `targets` defaults to all agents.
const kRollout = (folder, number) => `codex/${folder}/rollout-2026-01-02T03-04-05-01a1dc74-8eea-7b72-9f3d-0753167100${number}.jsonl`;
const kShell = '{"type":"exec","command":["ls"],"timeout_ms":null,"working_directory":null,"env":null,"user":null}';
const kSearch = ['assistant: [web_search_call] {"action":{"type":"search","query":"q"}}'];
const calls = ({ search = [], image = '' }) => [
  'user: Look around',
  'call#0 exec_command {"cmd":"ls"}',
  'result#0 a.txt',
  'call#1 apply_patch {"input":"*** Begin Patch\\n*** End Patch"}',
  'result#1 ok',
  `call#2 local_shell ${kShell}`,
  'result#2 b.txt',
  ...search,
  'call#3 view_image {}',
  `result#3 ${image}`,
  'image',
  'assistant: Two files and a dot.',
];

export const kCases = [
  {
    file: 'claude-code/blocks.jsonl',
    thoughts: ['Two commands will do.'],
    history: ['user: List the files', 'assistant: I look.', 'call#0 Bash {"command":"ls"}', 'call#1 Read {"file_path":"a.txt"}', 'result#0 a.txt\nb.txt', 'error#1 No such file', 'assistant: Two files, and one is missing.'],
  },
  {
    file: 'claude-code/interleaved.jsonl',
    history: ['user: Look twice', 'assistant: I look.', 'call#0 Bash {"command":"ls"}', 'call#1 Read {"file_path":"b"}', 'result#0 A', 'result#1 B', 'assistant: Both are there.'],
  },
  { file: 'claude-code/last_prompt.jsonl', history: ['user: Hello', 'assistant: Which way?', 'user: left', 'assistant: Left it is.'] },
  { file: 'claude-code/sidechain.jsonl', history: ['user: Ask a helper', 'call#0 Agent {"prompt":"count"}', 'result#0 three', 'assistant: There are three.'] },
  { file: 'claude-code/compaction_preserved.jsonl', history: ['user: They talked about old things.\nKept question', 'assistant: Kept answer', 'user: New question', 'assistant: New answer'] },
  {
    file: 'claude-code/every_line.jsonl',
    history: ['user: Hello', 'assistant: Hi', 'user: <command-name>/cost</command-name>\nGo on', 'assistant: API Error: overloaded', 'user: Look', 'image', 'assistant: A dot.'],
  },
  { file: 'claude-code/truncated_splice.jsonl', history: ['user: Hello\nleft', 'assistant: Left it is.'], targets: ['codex', 'gemini-cli', 'pi'] },
  {
    file: kRollout('calls', '03'),
    thoughts: ['Two commands.'],
    history: calls({}),
    // A search by Codex's own provider reaches other providers as text. pi mentions an image in words.
    historyIn: { 'claude-code': calls({ search: kSearch }), 'gemini-cli': calls({ search: kSearch }), pi: calls({ image: '(see attached image)' }) },
  },
  {
    file: kRollout('compacted', '04'),
    history: ['user: Old question\nHere is a summary:\nThey talked.\nNew question', 'assistant: New answer'],
    // In pi, a summary always comes first.
    historyIn: { pi: ['user: Here is a summary:\nThey talked.\nOld question\nNew question', 'assistant: New answer'] },
  },
  { file: kRollout('rollback', '06'), history: ['user: One', 'assistant: First', 'user: Three', 'assistant: Third'] },
  {
    // Codex itself can resume it only where the files that it continues are.
    file: kRollout('paginated', '22'),
    targets: ['claude-code', 'gemini-cli', 'pi'],
    history: ['user: Root question', 'assistant: Root answer', 'user: Branch B question', 'assistant: Branch B answer', 'user: Branch C question', 'assistant: Branch C answer'],
  },
  {
    file: 'gemini-cli/tools.jsonl',
    thoughts: ['**Plan** two calls'],
    history: ['user: Look around', 'assistant: I look.', 'call#0 run_shell_command {"command":"ls"}', 'call#1 read_file {"path":"b"}', 'result#0 a.txt', 'error#1 no such file', 'assistant: One file.'],
  },
  { file: 'gemini-cli/checkpoint.jsonl', history: ['user: They talked.', 'assistant: Got it.', 'user: New question', 'assistant: New answer'] },
  { file: 'gemini-cli/rewind.jsonl', history: ['user: One', 'assistant: First', 'user: Three', 'assistant: Third'] },
  { file: 'gemini-cli/document.json', history: ['user: Hello', 'assistant: World', 'user: Again', 'assistant: World again'], targets: ['claude-code', 'codex', 'pi'] },
  // pi continues only in the folder named in its own file, which does not exist on this machine.
  { file: 'pi/05-compaction.jsonl', targets: ['claude-code', 'codex', 'gemini-cli'], history: ['user: ## Goal\nSecond summary', 'assistant: ok c1', 'user: more', 'assistant: more ok', 'user: after c2', 'assistant: ok c2'] },
  { file: 'pi/03-branches.jsonl', targets: ['claude-code', 'codex', 'gemini-cli'], history: ['user: Plan A or B?', 'assistant: Choose.', 'user: Try B', 'assistant: B done', 'user: continue B after labels', 'assistant: fine'] },
  { file: 'claw0/header.jsonl', history: ['user: hello', 'call#0 read_file {"path":"a.txt"}', 'result#0 contents', 'assistant: hi there'] },
  { file: 'plain/tree.jsonl', history: ['user: hello', 'assistant: hello again', 'user: go on'] },
];
