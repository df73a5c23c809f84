/** Vale checks prose. It is built once from its Go module and kept in the cache, in a directory named by a digest of its go.mod and go.sum. */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { run } from '../cluster/host/exec.ts'
import { fillOnce } from '../cluster/host/fill-once.ts'
import { programsDirectory } from '../cluster/host/state.ts'
import { type Report, type Step, StepError } from '../cluster/host/steps.ts'
import { buildEnvironment, digestOf, followBuild } from '../cluster/programs/programs.ts'

const moduleDirectory = path.join(import.meta.dirname, 'go')
const valeModule = 'github.com/vale-cli/vale/v3/cmd/vale'

/** Vale contains parsers of programming languages in C. They are not used here, so they are compiled without optimization, which is faster. */
const valeEnvironment = { ...buildEnvironment, CGO_ENABLED: '1', CGO_CFLAGS: '-O0 -w' }

/** The step that builds Vale, for a command's list of steps. */
export const valeStep: Step = {
  name: 'Vale',
  run: async (report) => ((await buildVale(report)) ? 'built' : 'already built'),
}

/** The path of the program, also before it is built. */
export async function locateVale(): Promise<string> {
  const sources = await Promise.all(['go.mod', 'go.sum'].map((file) => readFile(path.join(moduleDirectory, file), 'utf8')))
  return path.join(programsDirectory, `vale-${digestOf(sources)}`, 'vale')
}

/** Builds Vale unless it exists. Resolves to whether it was built. */
export async function buildVale(report: Report = () => {}): Promise<boolean> {
  try {
    return await fillOnce(path.dirname(await locateVale()), async (draft) => {
      const args = ['go', 'build', '-v', '-ldflags', '-s -w', '-o', path.join(draft, 'vale'), valeModule]
      await run('nice', args, { directory: moduleDirectory, environment: valeEnvironment, onLine: followBuild(report) })
    })
  } catch (cause) {
    throw new StepError('Vale cannot be built', {
      remedy: 'check that gcc is installed and that Go can reach a module proxy (go env GOPROXY)',
      cause,
    })
  }
}
