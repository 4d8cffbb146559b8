// Loads the native binary for this machine.
'use strict';

const fs = require('node:fs');
const path = require('node:path');

const platform = require('./platform.cjs');

const ADVICE =
  'Build one in a checkout of bough: bindings/node/build, then name the resulting bough.node in the environment variable BOUGH_NODE_BINARY';

const BUNDLED = 'If a bundler has moved this code, leave the package "bough" out of the bundle: as external, or in serverExternalPackages of Next.js';

function load() {
  const given = process.env.BOUGH_NODE_BINARY;
  const prebuilds = path.join(__dirname, '..', 'prebuilds');
  const file = given ? path.resolve(given) : path.join(prebuilds, platform, 'bough.node');
  if (!fs.existsSync(file)) {
    if (given) throw new Error(`BOUGH_NODE_BINARY names ${file}, which is not there`);
    throw new Error(`bough has no binary for ${platform}. ${ADVICE}${fs.existsSync(prebuilds) ? '' : `. ${BUNDLED}`}`);
  }
  try {
    return require(file);
  } catch (error) {
    // This binary was built for another processor or a newer C library.
    throw new Error(`the binary of bough cannot be loaded: ${error.message}. ${ADVICE}`, { cause: error });
  }
}

module.exports = load();
