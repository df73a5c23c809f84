/** Which test files can share a process. */
import { existsSync, readFileSync } from 'node:fs'
import { toSource } from '../sources/source-files.ts'

/** Files of one process. One alone runs in a process of its own. */
export type Group = readonly string[]

/** State that all files of a process share. Facts such as `process.pid` are harmless. */
const PROCESS_WIDE = [
  /\bprocess\.(?:on|once|off|emit\w*|exit\w*|chdir|umask|std\w+|memoryUsage|cpuUsage|argv)\b/,
  /\bprocess\.env(?:\.\w+|\[[^\]]*\])? (?:\?\?)?= |\bdelete process\.env|\(process\.env,/,
  // Sockets and programs. What an earlier file leaves open could disturb them.
  /\.listen\(|'node:(?:net|http|https|tls|http2|dgram|dns|child_process|worker_threads|cluster)(?:\/promises)?'/,
  /\bglobalThis\b|\bglobal\.|\bmock\.|\.intercept\(|\.mock(?:Import|Require)\(|\bset(?:Default|Global)\w+\(|\bsyncBuiltin/,
]
const TESTS = /^test\//
/** Number of files of a group. Neighbors load the same modules. */
const GROUP_SIZE = 24

/** Puts the files that can share a process together. The others stay alone, and come first. */
export function groupFiles(files: readonly string[], mayShare = leavesProcessAlone, size = GROUP_SIZE): Group[] {
  const shared = files.filter(mayShare)
  const alone = files.filter((file) => !shared.includes(file))
  const groups = Array.from({ length: Math.ceil(shared.length / size) }, (_, at) => shared.slice(at * size, (at + 1) * size))
  return [...alone.map((file) => [file]), ...groups]
}

/** True if neither the file nor a test helper that it loads touches the state of its process. */
export function leavesProcessAlone(file: string): boolean {
  const seen = new Set([file])
  // A set iterates over entries that are added meanwhile.
  for (const each of seen) {
    const { code, imports } = toSource(each, readFileSync(each, 'utf8'))
    if (PROCESS_WIDE.some((pattern) => pattern.test(code))) return false
    for (const { file: helper, isType } of imports) if (helper && !isType && TESTS.test(helper) && existsSync(helper)) seen.add(helper)
  }
  return true
}

/** The name of a group in TAP. */
export const nameGroup = (files: Group): string => (files.length === 1 ? files.join() : `${files.length} files from ${files[0]}`)

const GROUP_START = /^# Subtest: \d+ files from /
const GROUP_END = /^(?:not )?ok /

/** TAP in which the files of groups are not below their groups. Failures of a group stay: its process can fail after the last file. */
export function ungroup(tap: string): string {
  let isInGroup = false
  const lines = tap.split('\n').flatMap((line) => {
    if (GROUP_START.test(line)) {
      isInGroup = true
      return []
    }
    if (!isInGroup) return [line]
    if (!GROUP_END.test(line)) return [line.replace(/^ {4}/, '')]
    isInGroup = false
    return line.startsWith('not') ? [line] : []
  })
  return lines.join('\n')
}
