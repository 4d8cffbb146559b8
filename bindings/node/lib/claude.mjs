import claude from './claude.cjs';

export const { BoughSessionStore } = claude;
