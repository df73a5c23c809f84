/** What is in a pulled image, read by other means than the release used: dpkg-query, directories, and the notices in the image. */
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { PackageURL } from 'packageurl-js'
import { run, succeeds } from '../../../cluster/host/exec.ts'
import type { ImagePlan } from '../../../cluster/images/plan.ts'
import { purlsOf } from '../../../release/sbom.ts'

/** Differences between the files of an image and what the release says about it. */
export interface Comparison {
  npm: number
  debian: number
  go: number
  /** Package URLs that the SBOM lacks. */
  missing: string[]
  /** Package URLs of the SBOM that are not in the image. */
  surplus: string[]
  /** Packages whose license the notices lack. */
  withoutNotice: string[]
}

const npmPurl = (name: string, version: string): string => {
  const [scope, base] = name.startsWith('@') ? (name.split('/') as [string, string]) : ['', name]
  return new PackageURL('npm', scope, base, version, undefined, '').toString()
}

/** Compares an image's files below `root` with its SBOM and its notices. */
export async function compareImage(root: string, plan: ImagePlan, sbom: string, notices: string): Promise<Comparison> {
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
    missing: [...found].filter((purl) => !listed.has(purl)),
    surplus: [...listed].filter((purl) => !found.has(purl)),
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
