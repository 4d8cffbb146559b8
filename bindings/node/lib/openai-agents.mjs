import openai from './openai-session.cjs';

const framework = await import('@openai/agents-core').catch((error) => {
  if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
});

export const BoughSession = openai.sessionClass(framework?.UserError);
