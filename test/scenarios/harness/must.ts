import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Runs a program and returns its standard output. @throws with its standard error */
export async function must(
  program: string,
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<string> {
  const { stdout } = await run(program, args, { ...options, maxBuffer: 64 * 2 ** 20 })
  return stdout
}
