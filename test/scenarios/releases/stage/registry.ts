import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { PackageURL } from 'packageurl-js'
import { endWithProcess, isDaemonRunning, logOf, startDaemon, stopDaemon } from '../../../cluster/host/daemons.ts'
import { run, succeeds } from '../../../cluster/host/exec.ts'
import { findFreePorts } from '../../../cluster/host/ports.ts'
import { waitFor } from '../../../cluster/host/wait.ts'
import type { ImagePlan } from '../../../cluster/images/plan.ts'
import { purlsOf } from '../../../release/sbom.ts'
import { ensureTool, locateTool } from '../../../release/tools.ts'

/** A container registry on loopback: the one of CNCF Distribution, with its files in a directory. */

/** What is in a pulled image, read by other means than the release used: dpkg-query, directories, and the notices in the image. */

export type Registry = Awaited<ReturnType<typeof startRegistry>>

/** Builds and starts the registry. The caller removes the directory. */
export async function startRegistry(directory: string) {
  await ensureTool('registry')
  const [port = 0] = await findFreePorts(1)
  const host = `127.0.0.1:${port}`
  const files = path.join(directory, 'files')
  const config = path.join(directory, 'config.json') // JSON is also YAML
  await mkdir(files, { recursive: true })
  const settings = {
    version: '0.1',
    log: { level: 'warn', accesslog: { disabled: true } },
    storage: { filesystem: { rootdirectory: files } },
    http: { addr: host },
  }
  await writeFile(config, JSON.stringify(settings))
  const place = { records: path.join(directory, 'daemons'), logs: path.join(directory, 'log') }
  await mkdir(place.records, { recursive: true })
  const forget = endWithProcess(place)
  await startDaemon(place, { name: 'registry', command: locateTool('registry'), args: ['serve', config], environment: {} })
  await waitFor('the registry', () => isLive(`http://${host}/v2/`), {
    timeoutMilliseconds: 60_000,
    intervalMilliseconds: 50,
    findFailure: async () =>
      (await isDaemonRunning(place, 'registry')) ? undefined : `the registry ended: see ${logOf(place, 'registry')}`,
  })
  const stop = async () => {
    await stopDaemon(place, 'registry')
    forget()
  }
  /** Path of the file in which the registry stores a blob. */
  const blobFile = (digest: string) => {
    const hash = digest.replace('sha256:', '')
    return path.join(files, 'docker/registry/v2/blobs/sha256', hash.slice(0, 2), hash, 'data')
  }
  return { host, blobFile, stop }
}

async function isLive(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok
  } catch {
    return false
  }
}

const npmPurl = (name: string, version: string): string => {
  const [scope, base] = name.startsWith('@') ? (name.split('/') as [string, string]) : ['', name]
  return new PackageURL('npm', scope, base, version, undefined, '').toString()
}

/** Finds differences between the files of an image below `root`, its SBOM and its notices. */
export async function compareImage(root: string, plan: ImagePlan, sbom: string, notices: string) {
  const debian = await listDebian(root)
  const npm = await listNpm(root)
  const go = plan.goProgram === undefined ? [] : await listGo(path.join(root, plan.goProgram))
  const found = new Set([
    ...debian.map(({ name, version }) => new PackageURL('deb', 'debian', name, version, undefined, '').toString()),
    ...npm.map(({ name, version }) => npmPurl(name, version)),
    ...go,
  ])
  const listed = new Set(purlsOf(sbom).filter((purl) => !purl.startsWith('pkg:generic/node@')))
  return {
    npm: npm.length,
    debian: debian.length,
    go: go.length,
    /** Package URLs that the SBOM lacks. */
    missing: [...found].filter((purl) => !listed.has(purl)),
    /** Package URLs of the SBOM that are not in the image. */
    surplus: [...listed].filter((purl) => !found.has(purl)),
    /** Packages whose license the notices lack. */
    withoutNotice: [...debian, ...npm].filter((entry) => !hasNotice(notices, entry)).map(({ name }) => name),
  }
}

interface Package {
  name: string
  version: string
}

/** A notice is a heading with name and version, and at least a line that says something about a license. */
function hasNotice(notices: string, { name, version }: Package): boolean {
  const at = notices.indexOf(`\n${name} ${version} (`)
  if (at < 0) return false
  const end = notices.indexOf('='.repeat(80), at)
  return /licen[cs]e|copyright|permission|\((MIT|ISC|Apache|BSD|MPL|LGPL|BlueOak|0BSD|Python|Unicode|CC0)/i.test(
    notices.slice(at, end < 0 ? undefined : end),
  )
}

async function listDebian(root: string): Promise<Package[]> {
  const database = path.join(root, 'var/lib/dpkg')
  if (!(await succeeds('test', ['-e', path.join(database, 'status')]))) return []
  const output = await run('dpkg-query', [`--admindir=${database}`, '--show', `--showformat=\${Package} \${Version}\n`])
  return output
    .trim()
    .split('\n')
    .map((line) => line.split(' ') as [string, string])
    .map(([name, version]) => ({ name, version }))
}

/** Packages in node_modules, and those that the notices of the image name because their code is in the bundle. */
async function listNpm(root: string): Promise<Package[]> {
  const text = await readFile(path.join(root, 'app/THIRD_PARTY_NOTICES'), 'utf8').catch(() => '')
  const bundled = [...text.matchAll(/^={80}\n(\S+) (\S+) \(/gm)].map(([, name = '', version = '']) => ({ name, version }))
  const installed: Package[] = []
  const modules = path.join(root, 'app/node_modules')
  for (const entry of await readdir(modules).catch(() => [])) {
    const names = entry.startsWith('@') ? (await readdir(path.join(modules, entry))).map((name) => `${entry}/${name}`) : [entry]
    for (const name of names) {
      const { version } = JSON.parse(await readFile(path.join(modules, name, 'package.json'), 'utf8')) as Package
      installed.push({ name, version })
    }
  }
  const all = new Map([...bundled, ...installed].map((entry) => [`${entry.name}@${entry.version}`, entry]))
  return [...all.values()]
}

interface Module {
  Path: string
  Version: string
}

/** Modules that Go wrote into the program, as package URLs. */
async function listGo(program: string): Promise<string[]> {
  const output = await run('go', ['version', '-m', '-json', program])
  const { Main, Deps = [] } = JSON.parse(output) as { Main?: Module; Deps?: (Module & { Replace?: Module })[] }
  const all: (Module & { Replace?: Module })[] = Main && Main.Version !== '(devel)' ? [Main, ...Deps] : Deps
  return all.map(({ Path, Version, Replace }) => {
    const [name, version] = Replace ? [Replace.Path, Replace.Version] : [Path, Version]
    const at = name.lastIndexOf('/')
    return new PackageURL('golang', name.slice(0, Math.max(0, at)), name.slice(at + 1), version, undefined, '').toString()
  })
}
