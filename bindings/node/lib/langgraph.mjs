import * as checkpoint from '@langchain/langgraph-checkpoint';

import saver from './langgraph-saver.cjs';

export const BoughSaver = saver.saverClass(checkpoint);
