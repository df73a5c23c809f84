import t from 'tap'
import { buildChromiumProfile, type ConditionalProfile } from '../../cluster/kubernetes/seccomp.ts'

const source: ConditionalProfile = {
  defaultAction: 'SCMP_ACT_ERRNO',
  defaultErrnoRet: 38,
  archMap: [
    { architecture: 'SCMP_ARCH_X86_64', subArchitectures: ['SCMP_ARCH_X86', 'SCMP_ARCH_X32'] },
    { architecture: 'SCMP_ARCH_AARCH64', subArchitectures: null },
  ],
  syscalls: [
    { names: ['read', 'clone'], action: 'SCMP_ACT_ALLOW', args: [], includes: {}, excludes: {} },
    { names: ['chroot'], action: 'SCMP_ACT_ALLOW', includes: { caps: ['CAP_SYS_CHROOT'] } },
    { names: ['chroot'], action: 'SCMP_ACT_ERRNO', errnoRet: 1, excludes: { caps: ['CAP_SYS_CHROOT'] } },
    { names: ['bpf'], action: 'SCMP_ACT_ALLOW', includes: { caps: ['CAP_BPF'] } },
    { names: ['bpf'], action: 'SCMP_ACT_ERRNO', errnoRet: 1, excludes: { caps: ['CAP_BPF'] } },
    { names: ['arch_prctl'], action: 'SCMP_ACT_ALLOW', includes: { arches: ['amd64', 'x32'] } },
    { names: ['sync_file_range2'], action: 'SCMP_ACT_ALLOW', includes: { arches: ['arm64'] } },
    { names: ['personality'], action: 'SCMP_ACT_ALLOW', args: [{ index: 0, value: 0, op: 'SCMP_CMP_EQ' }] },
  ],
}

const actionsOf = (architecture: string) => {
  const { syscalls } = buildChromiumProfile(source, architecture)
  return Object.fromEntries(syscalls.flatMap(({ names, action }) => names.map((name) => [name, action])))
}

t.test('buildChromiumProfile allows the system calls that create a sandbox', async (t) => {
  t.match(actionsOf('amd64'), {
    clone: 'SCMP_ACT_ALLOW',
    unshare: 'SCMP_ACT_ALLOW',
    setns: 'SCMP_ACT_ALLOW',
    chroot: 'SCMP_ACT_ALLOW',
    mount: 'SCMP_ACT_ALLOW',
  })
})

t.test('buildChromiumProfile lists each call once, because runtimes apply the last rule or reject the profile', async (t) => {
  const names = buildChromiumProfile(source, 'amd64').syscalls.flatMap((rule) => rule.names)
  t.equal(new Set(names).size, names.length)
})

t.test('buildChromiumProfile evaluates conditions for a pod without capabilities', async (t) => {
  t.equal(actionsOf('amd64').bpf, 'SCMP_ACT_ERRNO')
})

t.test('buildChromiumProfile keeps only rules of its architecture', async (t) => {
  t.match(actionsOf('amd64'), { arch_prctl: 'SCMP_ACT_ALLOW', sync_file_range2: undefined })
  t.match(actionsOf('arm64'), { arch_prctl: undefined, sync_file_range2: 'SCMP_ACT_ALLOW' })
  t.strictSame(buildChromiumProfile(source, 'amd64').architectures, ['SCMP_ARCH_X86_64', 'SCMP_ARCH_X86', 'SCMP_ARCH_X32'])
  t.strictSame(buildChromiumProfile(source, 'arm64').architectures, ['SCMP_ARCH_AARCH64'])
})

t.test('buildChromiumProfile keeps arguments and the default action, and removes fields that the runtime does not know', async (t) => {
  const profile = buildChromiumProfile(source, 'amd64')
  t.match(profile, { defaultAction: 'SCMP_ACT_ERRNO', defaultErrnoRet: 38 })
  t.strictSame(profile.syscalls.find((rule) => rule.names.includes('personality'))?.args, [{ index: 0, value: 0, op: 'SCMP_CMP_EQ' }])
  t.notMatch(JSON.stringify(profile), /includes|excludes|archMap/)
})
