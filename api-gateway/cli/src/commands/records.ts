import type { Screenshot, Video } from '../../../client/src/index.ts'
import { formatBytes, formatFacts, formatTable, formatTime } from '../terminal/format.ts'

/** `1920 x 1080 png, 45.3 KiB, 1.2 s`, and for videos `1920 x 1080 mp4, 5 s at 30 fps, 2.1 MiB, 9.4 s` */
export function describePicture(record: Screenshot | Video): string {
  const { width, height, format, file_size_bytes: size, processing_duration_ms: duration } = record
  const pixels = width === null || height === null ? '' : `${width} x ${height} `
  const bytes = size === null ? '' : `, ${formatBytes(size)}`
  const seconds = duration === null ? '' : `, ${(duration / 1_000).toFixed(1)} s`
  const motion = 'fps' in record && record.duration_ms !== null ? `, ${record.duration_ms / 1_000} s at ${record.fps} fps` : ''
  return `${pixels}${format}${motion}${bytes}${seconds}`
}

/** The state of a record in one word. */
export const stateOf = ({ status, started_at: startedAt }: Screenshot): string =>
  status === 'pending' && startedAt !== null ? 'capturing' : status

/** A record as lines of names and values. */
export function describeRecord(screenshot: Screenshot): string[] {
  const { id, url, created_at, completed_at, status, error, warnings, artifacts, download_url } = screenshot
  const rows: [string, string][] = [
    ['id', id],
    ['url', url],
    ['status', stateOf(screenshot)],
    ['created', `${formatTime(created_at)} UTC`],
  ]
  if (completed_at) rows.push(['ended', `${formatTime(completed_at)} UTC`])
  if (status === 'completed') rows.push(['file', describePicture(screenshot)])
  if (download_url) rows.push(['link', download_url])
  if (error) rows.push(['error', `${error.code}: ${error.message}`])
  for (const { type, file_size_bytes: size } of artifacts) rows.push(['artifact', size === null ? type : `${type}, ${formatBytes(size)}`])
  for (const warning of warnings) rows.push(['warning', warning])
  return formatFacts(rows)
}

/** Records as a table. */
export const tableOf = (screenshots: readonly Screenshot[]): string =>
  formatTable(
    ['ID', 'CREATED (UTC)', 'STATUS', 'FORMAT', 'SIZE', 'URL'],
    screenshots.map((screenshot) => [
      screenshot.id,
      formatTime(screenshot.created_at),
      screenshot.error ? `${screenshot.status} ${screenshot.error.code}` : stateOf(screenshot),
      screenshot.format,
      screenshot.file_size_bytes === null ? '-' : formatBytes(screenshot.file_size_bytes),
      screenshot.url,
    ]),
  )
