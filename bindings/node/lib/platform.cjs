// Returns the name of the folder in `prebuilds` for this machine; bindings/node/build creates that folder.
'use strict';

function libc() {
  if (process.platform !== 'linux') return '';
  const { report } = process;
  const before = report.excludeNetwork;
  report.excludeNetwork = true; // otherwise it looks up the names of all connections
  try {
    return report.getReport().header.glibcVersionRuntime ? '' : '-musl';
  } finally {
    report.excludeNetwork = before;
  }
}

module.exports = `${process.platform}-${process.arch}${libc()}`;
