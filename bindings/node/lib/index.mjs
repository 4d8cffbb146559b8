import bough from './index.cjs';

export const { Store, Session, Entry, BoughError, userText, assistantText, message, convert, version } = bough;
export default bough;
