;;; everproof.el --- Everproof in eglot  -*- lexical-binding: t -*-

;;; Commentary:

;; For Emacs 28 with eglot 1.9, or newer.  Put this file where Emacs finds it and (require 'everproof) into your init file;
;; `everproof' must be on PATH.  Eglot runs one server a buffer: this takes clangd's place in C buffers.
;;
;; M-x everproof-trace    the steps of the finding at point, from the error back; next-error and previous-error step through them
;; M-x everproof-check    everything is checked again from scratch
;; eglot-code-actions     explain the rule, suppress the finding with a reason

;;; Code:

(require 'eglot)
(require 'compile)
(require 'flymake)

(add-to-list 'eglot-server-programs '((c-mode c-ts-mode) . ("everproof" "serve")))
(add-hook 'c-mode-hook #'eglot-ensure)
(add-hook 'c-ts-mode-hook #'eglot-ensure)

;; settings, see docs/settings.md; a project's own are in its .everproof.toml
(setq-default eglot-workspace-configuration '(:everproof (:mode "continuous")))

(defun everproof--execute (command &rest arguments)
  "What the server answers to COMMAND with ARGUMENTS."
  (jsonrpc-request (or (eglot-current-server) (user-error "No server in this buffer"))
                   :workspace/executeCommand (list :command command :arguments (vconcat arguments)) :timeout 600))

(defun everproof--finding-at-point ()
  "The fingerprint of the finding on the line of point."
  (or (seq-some (lambda (diagnostic)
                  (plist-get (plist-get (cdr (assq 'eglot-lsp-diag (flymake-diagnostic-data diagnostic))) :data) :fingerprint))
                (flymake-diagnostics (line-beginning-position) (line-end-position)))
      (user-error "No finding on this line")))

(defun everproof-trace ()
  "Show the steps that lead to the finding on the line of point, from the error back."
  (interactive)
  (let ((steps (everproof--execute "everproof.trace" (eglot--path-to-uri buffer-file-name) (everproof--finding-at-point)
                                   '(:from "error"))))
    (with-current-buffer (get-buffer-create "*everproof trace*")
      (let ((inhibit-read-only t))
        (erase-buffer)
        (seq-doseq (step steps)
          (let ((start (plist-get (plist-get step :range) :start)))
            (insert (format "%s:%d:%d: %s\n" (eglot--uri-to-path (plist-get step :uri)) (1+ (plist-get start :line))
                            (1+ (plist-get start :character)) (plist-get step :summary))))))
      (goto-char (point-min))
      (compilation-mode)
      (setq next-error-last-buffer (current-buffer))
      (display-buffer (current-buffer)))))

(defun everproof-check ()
  "Check everything again from scratch and tell what came of it."
  (interactive)
  (let ((answer (everproof--execute "everproof.fullCheck")))
    (if (eq (plist-get answer :complete) t)
        (message "Everproof: the full check is complete, findings: %d" (plist-get answer :findings))
      (message "Everproof: the full check is not complete: %s" (plist-get answer :reason)))))

(provide 'everproof)
;;; everproof.el ends here
