export * from './claude.cjs';
