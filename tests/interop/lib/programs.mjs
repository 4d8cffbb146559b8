// How each real agent is started to resume a session in a separate home folder, with the model on the loopback
// interface.
//
// `environment` is used for the agent and for bough: both find the sessions through it. `prepare` writes the settings
// that the agent needs to run without questions. `command` resumes a session with a prompt.
import fs from 'node:fs';
import path from 'node:path';
import process from 'node:process';

const kArch = process.arch === 'arm64' ? ['arm64', 'aarch64'] : ['x64', 'x86_64'];

function write(file, text) {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, text);
}

export const kPrograms = {
  'claude-code': {
    program: (modules) => `${modules}/@anthropic-ai/claude-agent-sdk-linux-${kArch[0]}/claude`,
    environment: (home, url) => ({
      CLAUDE_CONFIG_DIR: path.join(home, '.claude'), ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'not-a-key', DISABLE_TELEMETRY: '1',
      DISABLE_ERROR_REPORTING: '1', DISABLE_AUTOUPDATER: '1', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', IS_SANDBOX: '1',
    }),
    prepare: () => {},
    command: (program, session, prompt) => [program, '-p', prompt, '--resume', session.id, '--output-format', 'json', '--model', 'claude-sonnet-4-5'],
  },

  codex: {
    program: (modules) => `${modules}/@openai/codex-linux-${kArch[0]}/vendor/${kArch[1]}-unknown-linux-musl/bin/codex`,
    environment: (home) => ({ CODEX_HOME: path.join(home, '.codex'), RUST_LOG: 'error' }),
    // The address of the built-in provider "openai" cannot be changed by the configuration alone, so another provider
    // is defined.
    prepare: (home, url) => write(path.join(home, '.codex', 'config.toml'), [
      'model = "gpt-5-codex"', 'model_provider = "loopback"', 'check_for_update_on_startup = false',
      '[model_providers.loopback]', 'name = "loopback"', `base_url = "${url}/v1"`, 'wire_api = "responses"',
      '[analytics]', 'enabled = false', '',
    ].join('\n')),
    command: (program, session, prompt) => [program, 'exec', '--skip-git-repo-check', 'resume', session.id, prompt],
  },

  'gemini-cli': {
    program: (modules) => `${modules}/@google/gemini-cli/bundle/gemini.js`,
    environment: (home, url) => ({ GEMINI_CLI_HOME: home, GEMINI_API_KEY: 'not-a-key', GOOGLE_GEMINI_BASE_URL: url, GEMINI_CLI_NO_RELAUNCH: '1' }),
    prepare: (home) => write(path.join(home, '.gemini', 'settings.json'), JSON.stringify({
      security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
      privacy: { usageStatisticsEnabled: false }, telemetry: { enabled: false }, general: { enableAutoUpdate: false },
    })),
    command: (program, session, prompt) => [process.execPath, program, '-r', session.id, '-p', prompt, '-m', 'gemini-2.5-flash', '--output-format', 'json'],
  },

  pi: {
    program: (modules) => `${modules}/@mariozechner/pi-coding-agent/dist/cli.js`,
    environment: (home) => ({ PI_CODING_AGENT_DIR: path.join(home, '.pi', 'agent'), PI_OFFLINE: '1', PI_SKIP_VERSION_CHECK: '1' }),
    prepare: (home, url) => write(path.join(home, '.pi', 'agent', 'models.json'), JSON.stringify({
      providers: { loopback: { baseUrl: url, api: 'anthropic-messages', apiKey: 'not-a-key', models: [{ id: 'loopback-model', name: 'loopback', reasoning: false, input: ['text', 'image'], contextWindow: 200000, maxTokens: 8000, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } }] } },
    })),
    command: (program, session, prompt) => [process.execPath, program, '-p', '--session', session.path, '--model', 'loopback/loopback-model', '--no-extensions', '--no-skills', prompt],
  },
};
