// Finds the binary that belongs to this machine.
'use strict';

const fs = require('node:fs');
const path = require('node:path');

const platform = require('./platform.cjs');

const ADVICE =
  'Build one in a checkout of bough: bindings/node/build, then name the resulting bough.node in the environment variable BOUGH_NODE_BINARY';

function load() {
  const given = process.env.BOUGH_NODE_BINARY;
  const file = given ? path.resolve(given) : path.join(__dirname, '..', 'prebuilds', platform, 'bough.node');
  if (!fs.existsSync(file)) {
    throw new Error(given ? `BOUGH_NODE_BINARY names ${file}, which is not there` : `bough has no binary for ${platform}. ${ADVICE}`);
  }
  try {
    return require(file);
  } catch (error) {
    // Made for another processor or a newer C library than this machine has.
    throw new Error(`the binary of bough cannot be loaded: ${error.message}. ${ADVICE}`, { cause: error });
  }
}

module.exports = load();
