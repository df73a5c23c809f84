import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { run } from '../../cluster/host/exec.ts'
import { ensureTool, locateTool } from '../../release/tools.ts'

// Google's interpreter of Starlark, the language of Tiltfiles. Tilt itself uses it.

/** One call that a Tiltfile made: the function's name and its arguments. */
export type Call = { function: string } & Record<string, unknown>

/**
 * Runs a Tiltfile with stubs of Tilt's functions that record their calls.
 * @throws CommandError with line and reason if it is not valid Starlark, or calls a function that Tilt does not have
 */
export async function runTiltfile(source: string): Promise<Call[]> {
  await ensureTool('starlark')
  const directory = await mkdtemp(path.join(tmpdir(), 'tintype-tilt-'))
  try {
    const file = path.join(directory, 'Tiltfile.star')
    const prelude = await readFile(path.join(import.meta.dirname, 'prelude.star'), 'utf8')
    await writeFile(file, prelude + source)
    const lines: string[] = []
    await run(locateTool('starlark'), [file], { onLine: (line) => lines.push(line) })
    return lines.flatMap((line) => {
      const [, call] = /CALL (.*)$/.exec(line) ?? []
      return call === undefined ? [] : [JSON.parse(call) as Call]
    })
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
