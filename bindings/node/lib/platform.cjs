// The name of the folder of `prebuilds` that belongs to this machine; bindings/node/build makes that folder.
'use strict';

function libc() {
  if (process.platform !== 'linux') return '';
  const { report } = process;
  const before = report.excludeNetwork;
  report.excludeNetwork = true; // otherwise it asks for the names of all connections
  try {
    return report.getReport().header.glibcVersionRuntime ? '' : '-musl';
  } finally {
    report.excludeNetwork = before;
  }
}

module.exports = `${process.platform}-${process.arch}${libc()}`;
