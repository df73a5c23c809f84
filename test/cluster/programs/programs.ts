/**
 * The cluster's programs, built from Go modules with pinned versions. A directory is named by the digest of what it is built from and appears
 * only when it is complete. An interrupted build continues from Go's own cache, a changed version builds beside the old one.
 */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { run } from '../host/exec.ts'
import { fillOnce } from '../host/fill-once.ts'
import { programsDirectory } from '../host/state.ts'
import { hostPlatform, type Platform } from '../images/platforms.ts'
import { applyPatches, type Modifications, readModifications, sourceNotice } from './minio-patches.ts'

const moduleDirectory = path.join(import.meta.dirname, '../go')

/** The Kubernetes version in go.mod. Without these flags kubelet and API server report v0.0.0 and reject each other's version. */
const kubernetesVersion = 'v1.34.4'

/** MinIO publishes no more releases. This is the last commit of its source, which charts/images/minio/THIRD_PARTY_NOTICES also names. */
const minioModule = 'github.com/minio/minio@v0.0.0-20260212201848-7aac2a2c5b7c'

/** The other store of the tests: Apache-2.0, one program over a directory. */
const versitygwModule = 'github.com/versity/versitygw@v1.8.0'

const kubernetesNames = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubelet', 'kube-proxy', 'kubectl']

/** Receives the progress of a build, such as `compiling: 812 packages`. */
export type OnProgress = (text: string) => void

/** Directories with the programs. */
export interface Programs {
  /** kube-apiserver … kubectl, helm, etcd, and coredns with the plugins of the cluster's configuration. */
  kubernetes: string
  /** minio with our patches, these patches, and its licence files. */
  minio: string
  /** minio without patches, for tests only. */
  upstreamMinio: string
}

/**
 * The environment of every build: needs no C compiler, and uses only the installed Go. Symbols for debuggers, which the linker would remove again, and
 * frequent garbage collection take a tenth of the time.
 */
export const buildEnvironment = { CGO_ENABLED: '0', GOFLAGS: '-trimpath -buildvcs=false -gcflags=all=-dwarf=false', GOGC: '400' }

const kubernetesFlags = [
  ...['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'].flatMap((name) => versionFlags(name, kubernetesVersion)),
].join(' ')

/** Without a cluster, Helm rejects charts that need a newer Kubernetes than the version that it was built for. */
const helmFlags = ['pkg/chartutil', 'pkg/lint/rules'].map((name) => helmVersionFlags(name, kubernetesVersion)).join(' ')

/** What `go build` calls each program, its package, its name, and its linker flags. */
const clusterPrograms = [
  { output: 'kube', package: './kube', name: 'kube', flags: kubernetesFlags },
  { output: 'helm', package: 'helm.sh/helm/v3/cmd/helm', name: 'helm', flags: helmFlags },
  { output: 'server', package: 'go.etcd.io/etcd/server/v3', name: 'etcd', flags: '' },
  { output: 'dns', package: './dns', name: 'coredns', flags: '' },
]

/** Paths of the programs, even before they are built. */
export async function locatePrograms(): Promise<Programs> {
  const files = ['go.mod', 'go.sum', 'kube/main.go', 'dns/main.go'].map((file) => readFile(path.join(moduleDirectory, file), 'utf8'))
  const [mod, sum, kube, dns] = (await Promise.all(files)) as [string, string, string, string]
  return {
    kubernetes: path.join(programsDirectory, `kubernetes-${digestOf([clusterPrograms, mod, sum, kube, dns])}`),
    minio: await locateMinio(),
    upstreamMinio: path.join(programsDirectory, `upstream-minio-${digestOf([minioModule])}`),
  }
}

/** True if the programs of the cluster must be compiled first, which takes minutes. */
export async function mustBuildPrograms(): Promise<boolean> {
  const { kubernetes, minio } = await locatePrograms()
  return ![kubernetes, minio].every((directory) => existsSync(directory))
}

/** Directory of MinIO for a platform. Other platforms than this machine's are built only for releases. */
export async function locateMinio(platform = hostPlatform): Promise<string> {
  const prefix = platform === hostPlatform ? '' : `${platform}.`
  return path.join(programsDirectory, `${prefix}minio-${digestOf([minioModule, await readModifications()])}`)
}

/**
 * Builds kube (six programs in one), helm, etcd and coredns unless they exist, with one command: while it links one program on one processor, it
 * compiles the others. Resolves to true when something was built.
 */
export async function buildKubernetes(onProgress: OnProgress = () => {}): Promise<boolean> {
  const { kubernetes } = await locatePrograms()
  return buildInto(kubernetes, async (directory) => {
    const linking = clusterPrograms.flatMap(({ package: name, flags }) => ['-ldflags', `${name}=-s -w ${flags}`])
    const packages = clusterPrograms.map((program) => program.package)
    const args = ['go', 'build', '-v', '-tags', 'providerless', ...linking, '-o', `${directory}/`, ...packages]
    await run('nice', args, { directory: moduleDirectory, environment: buildEnvironment, onLine: followBuild(onProgress) })
    for (const { output, name } of clusterPrograms) await rename(path.join(directory, output), path.join(directory, name))
    for (const name of kubernetesNames) await symlink('kube', path.join(directory, name))
  })
}

/** Builds MinIO with the patches unless it exists. Resolves to true when it was built. @throws when a patch does not apply */
export async function buildMinio(onProgress: OnProgress = () => {}, platform: Platform = hostPlatform): Promise<boolean> {
  const minio = await locateMinio(platform)
  return buildInto(minio, async (directory) => {
    const source = path.join(directory, 'source')
    const modifications = await prepareMinioSource(source)
    const args = ['go', 'build', '-v', '-ldflags', '-s -w', '-o', path.join(directory, 'minio'), '.']
    const environment = { ...buildEnvironment, GOARCH: platform }
    await run('nice', args, { directory: source, environment, onLine: followBuild(onProgress) })
    await placeLicenses(source, modifications, directory)
    await rm(source, { recursive: true })
  })
}

/** Copies MinIO's source with the patches into a new directory. Go cannot replace files of its module cache, not even with -overlay. */
export async function prepareMinioSource(directory: string): Promise<Modifications> {
  const { Dir: original } = JSON.parse(await run('go', ['mod', 'download', '-json', minioModule])) as { Dir: string }
  const names = ['cmd', 'internal', 'main.go', 'go.mod', 'go.sum', 'LICENSE', 'NOTICE']
  await mkdir(directory)
  await run('cp', ['-r', '--no-preserve=mode', ...names.map((name) => path.join(original, name)), directory])
  const modifications = await readModifications()
  await applyPatches(directory, modifications.patches)
  await writeFile(path.join(directory, 'cmd/tintype-source.txt'), sourceNotice(modifications))
  return modifications
}

/** Builds MinIO without patches, to verify that tests of the patches fail without them. Resolves to true when it was built. */
export async function buildUpstreamMinio(onProgress: OnProgress = () => {}): Promise<boolean> {
  const { upstreamMinio } = await locatePrograms()
  return buildInto(upstreamMinio, async (directory) => {
    const environment = { ...buildEnvironment, GOBIN: directory }
    await run('nice', ['go', 'install', '-v', '-ldflags', '-s -w', minioModule], { environment, onLine: followBuild(onProgress) })
  })
}

/** Builds versitygw unless it exists, with its license files beside it. Resolves to the path of the program. */
export async function ensureVersitygw(onProgress: OnProgress = () => {}, platform: Platform = hostPlatform): Promise<string> {
  const prefix = platform === hostPlatform ? '' : `${platform}.`
  const directory = path.join(programsDirectory, `${prefix}versitygw-${digestOf([versitygwModule])}`)
  await buildInto(directory, async (draft) => {
    const [name = '', version = ''] = versitygwModule.split('@')
    const { Dir: source } = JSON.parse(await run('go', ['mod', 'download', '-json', versitygwModule])) as { Dir: string }
    // A module of its own, because go install does not compile for other platforms into a chosen directory.
    const module = path.join(draft, 'module')
    await mkdir(module)
    await writeFile(path.join(module, 'go.mod'), `module versitygw\n\ngo 1.26.0\n\nrequire ${name} ${version}\n`)
    const args = ['go', 'build', '-v', '-mod=mod', '-ldflags', '-s -w', '-o', path.join(draft, 'versitygw'), `${name}/cmd/versitygw`]
    await run('nice', args, { directory: module, environment: { ...buildEnvironment, GOARCH: platform }, onLine: followBuild(onProgress) })
    await rm(module, { recursive: true })
    for (const file of ['LICENSE', 'NOTICE']) await run('install', ['-m', '644', path.join(source, file), draft])
  })
  return path.join(directory, 'versitygw')
}

/** MinIO's license and the notices that it requires for a modified version. */
async function placeLicenses(source: string, { notice, patches }: Modifications, directory: string): Promise<void> {
  for (const file of ['LICENSE', 'NOTICE']) await run('install', ['-m', '644', path.join(source, file), directory])
  await writeFile(path.join(directory, 'THIRD_PARTY_NOTICES'), notice)
  await mkdir(path.join(directory, 'patches'))
  for (const { name, text } of patches) await writeFile(path.join(directory, 'patches', name), text)
}

/** The digest that names a build's directory. */
export function digestOf(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 12)
}

/** Linker flags that set the version in a Kubernetes package. */
function versionFlags(goPackage: string, version: string): string[] {
  const [major, minor] = version.slice(1).split('.')
  const values = { gitVersion: version, gitMajor: major, gitMinor: minor, gitTreeState: 'clean' }
  return Object.entries(values).map(([name, value]) => `-X ${goPackage}.${name}=${value}`)
}

function helmVersionFlags(helmPackage: string, version: string): string {
  const [major, minor] = version.slice(1).split('.')
  return `-X helm.sh/helm/v3/${helmPackage}.k8sVersionMajor=${major} -X helm.sh/helm/v3/${helmPackage}.k8sVersionMinor=${minor}`
}

async function buildInto(directory: string, build: (temporary: string) => Promise<void>): Promise<boolean> {
  const isNew = await fillOnce(directory, build)
  if (isNew) await removeOlder(directory)
  return isNew
}

/** Removes builds of other versions. Programs that still run from one continue. */
async function removeOlder(directory: string): Promise<void> {
  const family = `${path.basename(directory).split('-')[0]}-`
  const older = (await readdir(programsDirectory)).filter((name) => name.startsWith(family) && name !== path.basename(directory))
  for (const name of older) await rm(path.join(programsDirectory, name), { recursive: true, force: true })
}

/** Parses the output of `go build -v`: first downloaded modules, then compiled packages. */
export function followBuild(onProgress: OnProgress): (line: string) => void {
  let downloaded = 0
  let compiled = 0
  return (line) => {
    if (line.startsWith('go: downloading ')) onProgress(`downloading: ${++downloaded} modules`)
    else if (/^[\w./-]+$/.test(line)) onProgress(`compiling: ${++compiled} packages`)
  }
}
