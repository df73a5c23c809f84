// `npm run lists`: prints the release of the filter lists that images contain. `-- --newest` pins the newest release, to be committed like any
// other dependency update.

import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { LIST_PACKAGE } from './sources.ts'

const run = promisify(execFile)
const FILE = path.join(import.meta.dirname, 'sources.ts')

/** A release of the package. */
interface Release {
  version: string
  integrity: string
}

async function findNewest(name: string): Promise<Release> {
  const { stdout } = await run('npm', ['view', '--json', name, 'version', 'dist.integrity'])
  const answer = JSON.parse(stdout) as { version: string; 'dist.integrity': string }
  return { version: answer.version, integrity: answer['dist.integrity'] }
}

/** The text of sources.ts with another release. */
export const repin = (text: string, { version, integrity }: Release): string =>
  text.replace(/version: '[^']*'/, `version: '${version}'`).replace(/integrity:\s*'[^']*'/, `integrity: '${integrity}'`)

if (import.meta.main) {
  const { values } = parseArgs({ options: { newest: { type: 'boolean', default: false } } })
  console.log(`${LIST_PACKAGE.name} ${LIST_PACKAGE.version}`)
  const newest = await findNewest(LIST_PACKAGE.name)
  if (newest.version === LIST_PACKAGE.version) console.log('This is the newest release.')
  else if (!values.newest) console.log(`Release ${newest.version} is available. Run: npm run lists -- --newest`)
  else {
    await writeFile(FILE, repin(await readFile(FILE, 'utf8'), newest))
    console.log(`Pinned ${newest.version} in ${path.relative(process.cwd(), FILE)}`)
  }
}
