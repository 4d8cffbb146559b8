export * from './ai.cjs';
