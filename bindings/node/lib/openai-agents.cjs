'use strict';
const { sessionClass } = require('./openai-session.cjs');

function userError() {
  try {
    return require('@openai/agents-core').UserError;
  } catch (error) {
    if (error.code !== 'MODULE_NOT_FOUND') throw error;
    return undefined;
  }
}

module.exports = { BoughSession: sessionClass(userError()) };
