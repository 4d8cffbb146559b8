import ai from './ai.cjs';

export const { BoughChat } = ai;
