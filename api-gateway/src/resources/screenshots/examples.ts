// Examples of records. A test checks them against the schemas.

export const screenshotId = 'scr_7yztsh6vzw7j4q0n9x2c5d8e1f'
const options = { full_page: true, format: 'webp', viewport_width: 1280, viewport_height: 800 }
export const createdAt = '2026-11-21T10:00:00.123Z'
const expiresAt = '2026-11-22T11:00:00.000Z'
const path = `users/acme/${screenshotId}.webp`

export const created = {
  id: screenshotId,
  url: 'https://example.com/',
  status: 'pending',
  options,
  created_at: createdAt,
  estimated_time: '10-60s',
}

export const completed = {
  ...created,
  url_to_capture: created.url,
  status: 'completed',
  started_at: '2026-11-21T10:00:00.431Z',
  completed_at: '2026-11-21T10:00:02.004Z',
  storage_path: path,
  file_size_bytes: 48_213,
  processing_duration_ms: 1573,
  width: 1280,
  height: 3120,
  format: 'webp',
  content_type: 'image/webp',
  download_url: `https://shots.example.com/files/${path}?expires=1795345200&signature=a.kP3x`,
  download_url_expires_at: expiresAt,
  artifacts: [],
  error: null,
  batch_id: null,
  schedule_id: null,
  external_identifier: 'order-1042',
  metadata: { page_title: 'Example Domain', final_url: 'https://example.com/', http_status: 200 },
  comparison: null,
  warnings: [],
  truncated: false,
  cached: false,
  attempts: 1,
  cost: 1,
}

/** What a failed capture has in place of a file. */
const failure = {
  status: 'failed',
  storage_path: null,
  file_size_bytes: null,
  width: null,
  height: null,
  download_url: null,
  download_url_expires_at: null,
  error: { code: 'TIMEOUT', message: 'the page did not load in 30000 ms' },
  metadata: null,
}

export const failed = { ...completed, ...failure }

const pagination = { limit: 100, offset: 0, has_more: true, next_cursor: screenshotId }
export const screenshotList = { success: true, data: [completed], pagination }

const videoPath = `users/acme/${screenshotId}.mp4`
const videoOptions = { format: 'mp4', full_page: false, viewport_width: 1280, viewport_height: 720, video_scenario: 'scroll' }

export const createdVideo = { ...created, options: videoOptions }

export const completedVideo = {
  ...completed,
  options: videoOptions,
  completed_at: '2026-11-21T10:00:11.310Z',
  storage_path: videoPath,
  file_size_bytes: 391_482,
  processing_duration_ms: 10_879,
  height: 720,
  duration_ms: 5000,
  fps: 30,
  frames: 150,
  format: 'mp4',
  content_type: 'video/mp4',
  download_url: `https://shots.example.com/files/${videoPath}?expires=1795345200&signature=a.kP3x`,
}

export const failedVideo = { ...completedVideo, ...failure, duration_ms: null, fps: null, frames: null }
export const videoList = { success: true, data: [completedVideo], pagination }
