/** Installs missing Debian packages that the cluster needs. Their services are neither started nor enabled, because the cluster runs its own. */
import { access, readFile, rm, writeFile } from 'node:fs/promises'
import { run, succeeds } from './exec.ts'
import { type Report, StepError } from './steps.ts'

const packages = [
  'buildah',
  'containerd',
  'containernetworking-plugins',
  'conntrack',
  'gcc',
  'golang-github-containers-common', // seccomp.json
  'iproute2',
  'iptables',
  'libc6-dev',
  'mmdebstrap',
  'nftables',
  'openssl',
  'patch',
  'procps',
  'runc',
  'skopeo',
  'slirp4netns',
  'util-linux',
]
const services = ['containerd.service', 'nginx.service']
const policyFile = '/usr/sbin/policy-rc.d'

/** Additional packages for tests on the host: the browser and the encoder of the images, fonts, a reverse proxy, and languages of samples. */
export const testPackages = [
  'chromium-headless-shell',
  'ffmpeg',
  'fonts-crosextra-caladea',
  'fonts-crosextra-carlito',
  'fonts-dejavu-core',
  'fonts-liberation',
  'fonts-noto-cjk',
  'fonts-noto-color-emoji',
  'fonts-noto-core',
  'ipset',
  'jq',
  'nginx',
  'php-cli',
  'python3-venv',
  'ruby',
  'shellcheck',
  'zsh',
]

/** Installs the missing packages of the cluster and of `more`. @throws StepError when it cannot. */
export async function ensurePackages(report: Report, more: readonly string[] = []): Promise<string> {
  requireRoot()
  const missing = await findMissing([...packages, ...more])
  if (missing.length === 0) return 'already installed'
  if (!(await succeeds('apt-get', ['--version']))) {
    throw new StepError('this machine has no apt-get', {
      remedy: 'use Debian or Ubuntu, or set TINTYPE_CLUSTER=current to use your own cluster',
    })
  }
  const disabled = await findDisabledServices()
  try {
    report('reading package lists')
    await aptGet(['update'])
    report(`installing ${missing.length}`)
    await withoutServices(async () => {
      await run('dpkg', ['--configure', '-a'], { environment: { DEBIAN_FRONTEND: 'noninteractive' } }) // completes an installation that was interrupted
      await aptGet(['install', '-y', '--no-install-recommends', ...missing])
    })
  } catch (cause) {
    const remedy = `run this command and fix its errors: apt-get install ${missing.join(' ')}`
    throw new StepError('packages could not be installed', { remedy, cause })
  }
  for (const service of disabled) await succeeds('systemctl', ['disable', service])
  return `${missing.length} installed`
}

/** @throws StepError unless the process is root: namespaces, mounts and containerd need it. */
export function requireRoot(): void {
  if (process.getuid?.() === 0) return
  throw new StepError('the embedded cluster needs root', {
    remedy: 'run it as root (sudo), or set TINTYPE_CLUSTER=current to use your own cluster',
  })
}

/** Parses dpkg-query's output: lines with `ii <name>` are installed packages. */
export function missingOf(wanted: readonly string[], dpkgOutput: string): string[] {
  const installed = new Set(dpkgOutput.split('\n').flatMap((line) => /^ii\s+(\S+)/.exec(line)?.[1] ?? []))
  return wanted.filter((name) => !installed.has(name))
}

async function findMissing(wanted: readonly string[]): Promise<string[]> {
  // dpkg-query fails when it does not know one of the names, but still prints the others.
  const query = `dpkg-query -W -f '\${db:Status-Abbrev} \${Package}\\n' ${wanted.join(' ')} 2>/dev/null || true`
  return missingOf(wanted, await run('sh', ['-c', query]))
}

/** Services that were not enabled before and must not be enabled by the installation. */
async function findDisabledServices(): Promise<string[]> {
  const states = await Promise.all(services.map((service) => succeeds('systemctl', ['is-enabled', '--quiet', service])))
  return services.filter((_, index) => !states[index])
}

/** Debian starts a service when its package is installed, unless this file forbids it. */
async function withoutServices(install: () => Promise<void>): Promise<void> {
  const isForeign = await access(policyFile).then(
    async () => !(await readFile(policyFile, 'utf8')).includes('tintype'),
    () => false,
  )
  if (isForeign) return install()
  await writeFile(policyFile, '#!/bin/sh\n# Created by tintype for one installation. It can be removed.\nexit 101\n', { mode: 0o755 })
  try {
    await install()
  } finally {
    await rm(policyFile, { force: true })
  }
}

async function aptGet(args: string[]): Promise<void> {
  await run('apt-get', ['-q', '-o', 'DPkg::Lock::Timeout=600', ...args], { environment: { DEBIAN_FRONTEND: 'noninteractive' } })
}
