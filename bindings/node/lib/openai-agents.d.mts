export * from './openai-agents.cjs';
