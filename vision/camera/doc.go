// Package camera gives pictures of what stands before the kiosk: from a camera, a stream, a video file or a folder
// of pictures, all behind one small [Source]. A [Camera] owns a source, keeps its last frame, opens it again when it
// fails, and hands out sharp photos and a preview.
package camera
