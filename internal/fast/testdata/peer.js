// Runs an ONNX model with onnxruntime on one thread. Its arguments are the model, a file of float32 samples, and the
// shape of all of them, axes joined by commas. It answers each line "N" of its input, after N runs, with the microseconds
// of CPU time that these took, and "out FILE" with the first output's shape, whose float32 values it writes.
'use strict';
const fs = require('fs');
const ort = require('onnxruntime-node');

async function main() {
  const [model, samples, shape] = process.argv.slice(2);
  const session = await ort.InferenceSession.create(model, {
    intraOpNumThreads: 1, interOpNumThreads: 1, executionMode: 'sequential', graphOptimizationLevel: 'all', logSeverityLevel: 3,
  });
  const bytes = fs.readFileSync(samples);
  const data = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  const feeds = {[session.inputNames[0]]: new ort.Tensor('float32', data, shape.split(',').map(Number))};
  let last = await session.run(feeds);
  console.log('ready ' + ort.env.versions.node);
  for await (const line of require('readline').createInterface({input: process.stdin})) {
    const [word, file] = line.split(' ');
    if (word === 'out') {
      const out = last[session.outputNames[0]];
      fs.writeFileSync(file, Buffer.from(out.data.buffer, out.data.byteOffset, out.data.byteLength));
      console.log(out.dims.join(','));
      continue;
    }
    const before = process.cpuUsage();
    for (let i = 0; i < Number(word); i++) last = await session.run(feeds);
    const took = process.cpuUsage(before);
    console.log(took.user + took.system);
  }
}

main().catch(e => { console.error(String(e)); process.exit(1); });
