/** Runs the packed command line client. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { open } from 'node:fs/promises'
import path from 'node:path'
import { endWithTest } from '../support/processes/own-children.ts'
import { installPackages } from './package.ts'

export interface CliOptions {
  environment?: Record<string, string>
  input?: string
  /** A file that is standard input, as after `<` in a shell, instead of a pipe with `input`. */
  inputFile?: string
  directory?: string
  /** The Node.js that runs the program. Default: that of the test. */
  node?: string
  /** Name of the program. Default: `tintype`. */
  name?: string
  /** Called with all of standard output so far. May return a signal to send, once. */
  onOutput?: (stdout: string) => NodeJS.Signals | undefined
}

/** Packs and installs the command line client and the TypeScript client. The directory is also the home directory of the program. */
export async function installCli() {
  const installed = await installPackages('cli', 'client')
  const { directory } = installed
  const program = path.join(directory, 'node_modules/.bin/tintype')
  const run = async (args: readonly string[], options: CliOptions = {}) => {
    const {
      environment = {},
      input = '',
      inputFile,
      directory: cwd = directory,
      node = process.execPath,
      name = 'tintype',
      onOutput,
    } = options
    // Only these variables, so that the settings of the person who runs the tests have no effect.
    const env = { PATH: process.env.PATH ?? '', HOME: directory, ...environment }
    const file = inputFile === undefined ? undefined : await open(inputFile)
    const child = spawn(node, [path.join(path.dirname(program), name), ...args], { cwd, env, stdio: [file?.fd ?? 'pipe', 'pipe', 'pipe'] })
    endWithTest(child)
    await file?.close()
    const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []]
    let isInterrupted = false
    child.stdout?.on('data', (chunk: Buffer) => {
      stdout.push(chunk)
      const signal = isInterrupted ? undefined : onOutput?.(Buffer.concat(stdout).toString())
      if (signal === undefined) return
      isInterrupted = true
      child.kill(signal)
    })
    child.stderr?.on('data', (chunk: Buffer) => stderr.push(chunk))
    // The program may end before it has read its input.
    child.stdin?.on('error', () => {})
    child.stdin?.end(input)
    const [code] = (await once(child, 'close')) as [number | null]
    return { code, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString() }
  }
  return { ...installed, program, run }
}
