/** Installs the Python programs for tests from PyPI with pinned hashes, once, in a virtual environment of their own. */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { run, succeeds } from '../cluster/host/exec.ts'
import { installOnce } from '../cluster/host/fill-once.ts'
import { cache } from '../cluster/host/state.ts'
import { StepError } from '../cluster/host/steps.ts'

const requirements = path.join(import.meta.dirname, 'requirements.txt')
const pip = ['-m', 'pip', '--disable-pip-version-check', 'install', '--quiet', '--require-hashes', '--no-deps', '--only-binary', ':all:']

/**
 * Directory of the programs of a requirements list, by default schemathesis and openapi-python-client. Its name is a digest of the list.
 */
export async function locatePythonTools(list = requirements): Promise<string> {
  const digest = createHash('sha256')
    .update(await readFile(list))
    .digest('hex')
    .slice(0, 12)
  return path.join(cache, 'python', digest, 'bin')
}

/** Installs the programs if they are missing. Resolves to a description of the result. */
export async function ensurePythonTools(list = requirements): Promise<string> {
  const programs = await locatePythonTools(list)
  const directory = path.dirname(programs)
  return (await installOnce(directory, () => install(directory, programs, list))) ? 'installed' : 'already installed'
}

async function install(directory: string, programs: string, list: string): Promise<void> {
  if (!(await succeeds('python3', ['-c', 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))']))) {
    throw new StepError('Python 3.11 or newer with venv is not installed', { remedy: 'apt-get install python3-venv' })
  }
  try {
    await run('python3', ['-m', 'venv', directory])
    await run(path.join(programs, 'python'), [...pip, '-r', list])
  } catch (cause) {
    throw new StepError('Python packages could not be installed', {
      remedy: `make sure that PyPI is reachable: pip download -r ${list}`,
      cause,
    })
  }
}
