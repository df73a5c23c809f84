import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { locatePrograms } from './cluster/programs/programs.ts'

// `npm run verify`: checks before a commit that need no cluster: lint and format, types, generated files, chart, prose, unit tests. They run
// concurrently, and each prints its output only when it fails.

const node = process.execPath
const bin = (name: string): string => join('node_modules', '.bin', name)
const helm = join((await locatePrograms()).kubernetes, 'helm')

const checks: Record<string, string[]> = {
  lint: [bin('biome'), 'check', '--error-on-warnings', '--colors=off', '--max-diagnostics=20', '.'],
  types: [bin('tsc'), '--noEmit'],
  console: [bin('tsc'), '--noEmit', '-p', 'api-gateway/console'],
  page: [bin('tsc'), '--noEmit', '-p', 'capture-runner/page'],
  generated: [node, 'crds/generate/main.ts', '--check'],
  images: [node, 'api-gateway/generate/main.ts', '--check'],
  client: [node, 'api-gateway/client/generate/main.ts', '--check'],
  functions: [node, 'capture-runner/page/generate.ts', '--check'],
  cli: [node, 'api-gateway/cli/generate/main.ts', '--check'],
  chart: [existsSync(helm) ? helm : 'helm', 'lint', '--strict', 'charts/tintype'],
  prose: [node, 'test/prose/main.ts'],
}
// Vale takes minutes to build. `npm test` builds it while tests run, and test/integration/docs/prose.test.ts makes the same check.
if (process.argv.includes('--no-prose')) delete checks.prose
if (!process.argv.includes('--no-unit')) checks.unit = [node, 'test/run.ts', 'unit']

function check(name: string, [command = '', ...args]: string[]): Promise<boolean> {
  const started = performance.now()
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const output: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => output.push(chunk))
  return new Promise((resolve) => {
    child.on('error', (error) => output.push(Buffer.from(`${error.message}\n`)))
    child.on('close', (code) => {
      console.log(`${code === 0 ? 'ok    ' : 'FAILED'} ${name.padEnd(10)} ${((performance.now() - started) / 1000).toFixed(1)} s`)
      if (code !== 0) process.stdout.write(Buffer.concat(output))
      resolve(code === 0)
    })
  })
}

const results = await Promise.all(Object.entries(checks).map(([name, command]) => check(name, command)))
process.exit(results.every(Boolean) ? 0 : 1)
