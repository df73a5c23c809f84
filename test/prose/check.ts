/** Runs Vale with the style in docs/.vale over documents, and over the comments of sources. */
import { spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { repository } from '../cluster/host/state.ts'
import { locateVale } from './vale.ts'

const configuration = path.join(repository, 'docs/.vale/vale.ini')

/** Not checked: mostly generated tables. */
const excluded = ['docs/options.md', 'docs/benchmarks.md']

/** The files that `npm run verify` checks, relative to the repository. */
export const checkedFiles: readonly string[] = [
  'charts/tintype/README.md',
  'api-gateway/client/README.md',
  'api-gateway/cli/README.md',
  ...globSync('{,docs/,docs/adr/,docs/examples/,test/*/}*.md', { cwd: repository }).sort(),
].filter((file) => !excluded.includes(file))

/** The sources whose comments and messages `npm run verify` checks. */
export const checkedSources: readonly string[] = globSync(
  '{crds/{src,client,storage,generate},{operator,api-gateway,api-gateway/{client,cli},capture-runner}/src}/**/*.ts',
  {
    cwd: repository,
  },
)
  .filter((file) => !file.includes('/generated/'))
  .sort()

/** The tests whose titles `npm run verify` checks. */
export const checkedTests: readonly string[] = globSync('test/{unit,integration,e2e}/**/*.test.ts', { cwd: repository }).sort()

/** Results of Vale. */
export interface ProseResult {
  /** True when there is no error. Warnings and suggestions do not fail the check. */
  isGood: boolean
  output: string
}

/** Checks files. Paths are relative to the repository, or absolute. */
export async function checkProse(files: readonly string[], minimum: 'error' | 'suggestion' = 'error'): Promise<ProseResult> {
  const args = ['--config', configuration, '--no-global', '--output', 'line', '--minAlertLevel', minimum, ...files]
  const vale = spawn(await locateVale(), args, { cwd: repository, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise<number>((resolve, reject) => vale.on('error', reject).on('close', (code) => resolve(code ?? 1)))
  const [output, errors] = await Promise.all([text(vale.stdout), text(vale.stderr)])
  return { isGood: (await ended) === 0, output: output + errors }
}
