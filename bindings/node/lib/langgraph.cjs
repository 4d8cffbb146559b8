'use strict';
const { saverClass } = require('./langgraph-saver.cjs');

module.exports = { BoughSaver: saverClass(require('@langchain/langgraph-checkpoint')) };
