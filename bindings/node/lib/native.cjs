// Finds the binary that belongs to this machine.
'use strict';

const fs = require('node:fs');
const path = require('node:path');

const platform = `${process.platform}-${process.arch}`;

function libc() {
  if (process.platform !== 'linux') return '';
  const report = process.report?.getReport?.();
  return report?.header?.glibcVersionRuntime ? '' : '-musl';
}

function load() {
  const given = process.env.BOUGH_NODE_BINARY;
  const file = given || path.join(__dirname, '..', 'prebuilds', `${platform}${libc()}`, 'bough.node');
  if (!fs.existsSync(file)) {
    throw new Error(
      `bough has no binary for ${platform}${libc()}. Build one in a checkout of bough: bindings/node/build, ` +
        'then name the resulting bough.node in the environment variable BOUGH_NODE_BINARY',
    );
  }
  return require(file);
}

module.exports = load();
